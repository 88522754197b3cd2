import { DatabaseError } from 'pg';
import { wellFormed } from '../../../core/model/text.js';
import { StoreUnavailableError } from '../../../core/ports/store.js';
import type { Bindable, Run, Statement } from './connections.js';
import { isUnavailable } from './failure.js';
import { callOf, resultOf } from './functions.js';

/** The SQL functions that write to one session, with the types of their parameters. The first one is the session's id. */
const WRITES = {
  save_session: 'text, boolean, bigint, text, json, text, text[], text[], boolean, bigint',
  append_events: 'text, text[], text[], bigint',
  accept_message:
    'text, bigint, text, json, text, text, text, text, text, text, text, text, text, bigint, text, integer, json, ' +
    'text, bigint, bigint, bigint',
  save_progress: 'text, text, text, integer, json, text[], text[], text, bigint, bigint',
  end_turn:
    'text, text, text, integer, text, text, text, bigint, bigint, bigint, json, json, text[], text[], text, bigint, bigint',
} as const;

export type WriteFunction = keyof typeof WRITES;

const CASES = Object.entries(WRITES).map(([name, types]) => {
  const values = types.split(', ').map((type, index) => `a[${String(index + 1)}]::${type}`);
  return `WHEN f = '${name}' THEN ${name}(${values.join(', ')})`;
});

/**
 * Calls functions in one transaction. It never waits for a session that another transaction has locked: such a step is
 * not done. Steps are in the order of their sessions, in which the renewal of leases locks turns too, and new sessions
 * come last, so that concurrent transactions cannot deadlock. Scalar queries, because for EXISTS the planner may read the
 * whole table.
 */
const WRITE_STEPS: Statement = {
  name: 'write_steps',
  text: `WITH asked AS MATERIALIZED (
      SELECT r.n, r.f, r.a FROM json_to_recordset($1) AS r (n integer, f text, a text[])
    ), held AS MATERIALIZED (
      SELECT l.ref, l.id FROM (SELECT DISTINCT a[1] AS id FROM asked) AS i
      CROSS JOIN LATERAL (SELECT s.ref, s.id FROM sessions s WHERE s.id = i.id FOR UPDATE SKIP LOCKED) AS l
    )
    SELECT n, free, CASE WHEN NOT free THEN NULL ${CASES.join(' ')} END AS result FROM (
      SELECT asked.n, asked.f, asked.a,
        held.ref IS NOT NULL OR (SELECT k.ref FROM sessions k WHERE k.id = asked.a[1]) IS NULL AS free
      FROM asked LEFT JOIN held ON held.id = asked.a[1] ORDER BY held.ref NULLS LAST, asked.a[1], asked.n OFFSET 0
    ) AS steps`,
};

/** The limits of one statement: steps, and characters of their text. */
const MAX_STEPS = 64;
const MAX_SIZE = 262_144;

interface Step {
  readonly name: WriteFunction;
  readonly values: readonly Bindable[];
  readonly size: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface StepRow {
  readonly n: number;
  /** False: another transaction has locked the session, and nothing was written. */
  readonly free: boolean;
  readonly result: unknown;
}

/**
 * Writes steps of many sessions in one statement and one commit: those that arrive while a statement is in progress are
 * in the next one. If a step fails, each is repeated in a transaction of its own, so that it fails alone.
 */
export class Steps {
  #waiting: Step[] = [];
  #isWriting = false;
  #onSettled: (() => void)[] = [];
  /** The last repeat of each session that has one. */
  readonly #repeats = new Map<unknown, Promise<void>>();

  constructor(private readonly run: Run) {}

  /**
   * Calls a write function.
   * @throws StoreUnavailableError
   */
  write(name: WriteFunction, values: readonly Bindable[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ name, values, size: sizeOf(values), resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      // Waits for the end of this iteration of the event loop, so that its steps share the statement.
      setImmediate(() => void this.#writeAll());
    });
  }

  /**
   * Calls a write function in a transaction of its own.
   * @throws StoreUnavailableError
   */
  writeAlone(name: WriteFunction, values: readonly Bindable[]): Promise<unknown> {
    return resultOf(this.run, callOf(name, values.length), values);
  }

  /** Resolves when no step waits, and none is being repeated. */
  async settled(): Promise<void> {
    if (this.#isWriting) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
    await Promise.allSettled(this.#repeats.values());
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#writeGroup(this.#take());
    this.#isWriting = false;
    for (const settled of this.#onSettled.splice(0)) settled();
  }

  #take(): Step[] {
    let count = 0;
    let size = 0;
    for (const step of this.#waiting) {
      size += step.size;
      if (count === MAX_STEPS || (size > MAX_SIZE && count > 0)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #writeGroup(group: readonly Step[]): Promise<void> {
    let rows: StepRow[];
    try {
      const steps = group.map(({ name, values }, n) => ({ n, f: name, a: values.map(toText) }));
      rows = await this.run<StepRow>(WRITE_STEPS, [JSON.stringify(steps)]);
    } catch (error) {
      // Steps that wait would run into the next timeout, or be stored after their clients have given up.
      if (!isRefusal(error)) for (const step of this.#waiting.splice(0)) step.reject(error);
      for (const step of group) {
        // The statement wrote nothing, unless the connection failed.
        if (isRefusal(error)) this.#repeat(step);
        else step.reject(error);
      }
      return;
    }
    for (const { n, free, result } of rows) {
      const step = group[n];
      if (step === undefined) continue;
      if (free) step.resolve(result);
      else this.#repeat(step);
    }
  }

  /**
   * The next group does not wait for it: it may wait for a lock. Steps of the same session wait for each other, so that
   * a locked session takes one connection. When one is unavailable, those behind it fail with it: they would be stored
   * after their clients have given up.
   */
  #repeat({ name, values, resolve, reject }: Step): void {
    const [id] = values;
    const written = (this.#repeats.get(id) ?? Promise.resolve()).then(() => this.writeAlone(name, values));
    const last = written.then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof StoreUnavailableError) throw error;
      },
    );
    this.#repeats.set(id, last);
    const forget = (): void => {
      if (this.#repeats.get(id) === last) this.#repeats.delete(id);
    };
    last.then(forget, forget);
    written.then(resolve, reject);
  }
}

/** True if PostgreSQL refused the statement for what it contains, or rolled it back because of a conflict. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return cause instanceof DatabaseError && (cause.code?.startsWith('40') === true || !isUnavailable(cause));
}

function sizeOf(values: readonly Bindable[]): number {
  return values.reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + value.length;
    return sum + (typeof value === 'object' && value !== null ? sizeOf(value) : 8);
  }, 0);
}

/** Converts a value to the text from which PostgreSQL reads it. */
function toText(value: Bindable): string | number | boolean | null {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  return `{${value.map((item) => (item === null ? 'NULL' : quoted(wellFormed(item)))).join(',')}}`;
}

/** An element of an array literal. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
