/** Runs a statement without parameters. */
type RunSql = (sql: string) => Promise<unknown>;

/** How much a database is filled with. */
export interface Filling {
  readonly sessions: number;
  /** Turns of each session, with two messages each. */
  readonly turns: number;
  readonly wallets: number;
  /** Threads of a length of their own, by session id, in turns. */
  readonly threads?: Readonly<Record<string, number>>;
}

/** Sessions that one statement inserts. */
const SESSIONS_A_STEP = 50_000;
/** The sessions were last active one second after another from this time on, in milliseconds since the epoch. */
export const FILLED_FROM = 1_700_000_000_000;
const ANSWER = 'The answer to this question is a sentence of a usual length, so that rows have a usual size.';

/** The id of the session with a number, from 1 on: a UUID whose order says nothing of the number. */
export function filledId(n: number): string {
  return `${ID_STARTS[n % 16] ?? ''}${n.toString(16).padStart(7, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}
const ID_STARTS = '7c0f5a91e3b8d264';

/** The wallet of the session with a number. */
export function filledWallet(n: number, { wallets }: Filling): string {
  return `0x${(n % wallets).toString(16).padStart(40, '0')}`;
}

const ID = `substr('${ID_STARTS}', n % 16 + 1, 1) || lpad(to_hex(n), 7, '0') || '-0000-4000-8000-' || lpad(to_hex(n), 12, '0')`;

/**
 * Fills the tables of a migrated, empty database with sessions, turns, messages and events as the service would have
 * written them, and updates the planner's statistics.
 */
export async function fillPostgres(run: RunSql, filling: Filling): Promise<void> {
  const { sessions, turns, wallets, threads = {} } = filling;
  for (let from = 1; from <= sessions; from += SESSIONS_A_STEP) {
    const to = Math.min(sessions, from + SESSIONS_A_STEP - 1);
    await insert(
      run,
      `SELECT n, ${ID} AS id, ${String(turns)} AS turns FROM generate_series(${String(from)}, ${String(to)}) AS n`,
      wallets,
    );
  }
  let n = sessions;
  for (const [id, length] of Object.entries(threads)) {
    n += 1;
    await insert(run, `SELECT ${String(n)} AS n, '${id}' AS id, ${String(length)} AS turns`, wallets);
  }
  await run('VACUUM ANALYZE');
}

/** @param from a query that returns the columns `n`, `id` and `turns` of new sessions */
async function insert(run: RunSql, from: string, wallets: number): Promise<void> {
  await run(
    `WITH new AS (${from}), s AS (
       INSERT INTO sessions (id, title, title_source, wallet, app, created_at, active_at, revision, version,
         last_event_id, last_turn_no, text_bytes, shown_messages)
       SELECT id, 'Conversation ' || n, 'automatic', '0x' || lpad(to_hex(n % ${String(wallets)}), 40, '0'), 'default',
         ${String(FILLED_FROM)} + n, ${String(FILLED_FROM)} + n * 1000, turns * 2 + 1, 2, 1, turns, turns * ${String(ANSWER.length + 20)}, turns * 2
       FROM new RETURNING ref, last_turn_no AS turns, active_at
     ), t AS (
       INSERT INTO turns (id, session, no, app, status, attempt, rig, input_tokens, output_tokens, created_at, ended_at)
       SELECT gen_random_uuid(), ref, no, 'default', 'complete', 1, 'demo', 100, 20, active_at, active_at
       FROM s, generate_series(1, turns) AS no RETURNING id, session, no, created_at
     ), m AS (
       INSERT INTO messages (id, session, turn_no, turn_id, position, role, content, created_at)
       SELECT gen_random_uuid(), session, no, id, position, CASE position WHEN 0 THEN 'user' ELSE 'assistant' END,
         CASE position WHEN 0 THEN 'Question number ' || no ELSE '${ANSWER}' END, created_at
       FROM t, generate_series(0, 1) AS position
     )
     INSERT INTO events (session, id, at, body)
     SELECT ref, 1, active_at, '{"type":"title_changed","title":"Conversation"}' FROM s`,
  );
}
