import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { SystemFault } from '../../../../core/model/event.js';
import { failuresIn, shownIn, type Message } from '../../../../core/model/message.js';
import { PAGE_CHARS, type StoredThread, type ThreadPart } from '../../../../core/ports/stored-thread.js';
import {
  charsOf,
  FAILURE_COUNT,
  MESSAGE_COLUMNS,
  SESSION_FAULTS,
  TURN_MESSAGES,
  toMessage,
  toTurn,
  type MessageValues,
  type TurnRow,
} from '../rows/turn-rows.js';
import { SESSION_COLUMNS, toSession, type SessionRow } from '../rows/session-row.js';

/** Limit of one page besides `PAGE_CHARS`, after which other work can run: a long thread must not block the event loop. */
const ROWS_A_PAGE = 500;

/** A thread without its settled messages, and what is needed to read these later. */
interface Head {
  readonly row: SessionRow;
  readonly open: StoredThread['open'];
  readonly faults: readonly SystemFault[];
  /** How many records of the session state why their turn failed. */
  readonly failures: number;
  readonly openNos: ReadonlySet<number>;
  readonly continues: boolean;
}

/** A position in a thread: the messages after it are still to be read. */
interface Place {
  readonly turnNo: number;
  readonly position: number;
}

const START: Place = { turnNo: 0, position: -1 };

/**
 * Reads threads. The settled messages of a long thread are read in pages. They never change after their turn has
 * ended, so all pages belong to one snapshot; the read restarts if the session is deleted in between.
 */
export function createThreadReader(
  db: Database,
): (id: string, part?: ThreadPart) => Promise<StoredThread | 'deleted' | 'unknown'> {
  const selectSession = db.prepare<[string], SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`,
  );
  const isKnown = db.prepare<[string], number>('SELECT 1 FROM sessions WHERE id = ?').pluck();
  const selectIncarnation = db
    .prepare<[string], number>('SELECT incarnation FROM sessions WHERE id = ?')
    .pluck();
  const selectRunning = db.prepare<[number], TurnRow>(
    "SELECT *, '' AS session_id FROM turns WHERE session = ? AND status = 'running'",
  );
  const selectQueued = db.prepare<[number], TurnRow>(
    "SELECT *, '' AS session_id FROM turns WHERE session = ? AND status = 'queued' ORDER BY no",
  );
  const selectTurnMessages = db
    .prepare<[turnId: string, session: number, turnNo: number], MessageValues>(TURN_MESSAGES)
    .raw();
  const selectMessages = db
    .prepare<[session: number, turnNo: number, position: number, lastTurnNo: number], MessageValues>(
      `SELECT t.id, ${MESSAGE_COLUMNS} FROM messages m CROSS JOIN turns t ON t.session = m.session AND t.no = m.turn_no
     WHERE m.session = ? AND (m.turn_no, m.position) > (?, ?) AND m.turn_no <= ?
     ORDER BY m.turn_no, m.position`,
    )
    .raw();
  const isRecord = db
    .prepare<[id: string, session: number], number>('SELECT 1 FROM messages WHERE id = ? AND session = ?')
    .pluck();
  const selectNth = db.prepare<[session: number, n: number], Place>(
    `SELECT turn_no AS turnNo, position FROM messages WHERE session = ?
     ORDER BY turn_no DESC, position DESC LIMIT 1 OFFSET CAST(? AS INTEGER)`,
  );
  const selectFaults = db.prepare<[number, number], SystemFault>(SESSION_FAULTS);
  const countFailures = db.prepare<[number], number>(FAILURE_COUNT).pluck();

  function readHead(id: string, part: ThreadPart | undefined): Head | 'deleted' | 'unknown' {
    const row = selectSession.get(id);
    if (row === undefined) return 'unknown';
    if (row.deleted_at !== null) return 'deleted';
    const turns = [...selectRunning.all(row.ref), ...selectQueued.all(row.ref)];
    const open = turns.map((turn) => ({
      turn: toTurn({ ...turn, session_id: id }),
      messages: selectTurnMessages.all(turn.id, row.ref, turn.no).map(toMessage),
      partialText: turn.partial_text,
      partialSince: turn.partial_since,
    }));
    const faults = selectFaults.all(row.ref, row.faults_shown);
    const failures = countFailures.get(row.ref) ?? 0;
    const continues =
      part !== undefined && 'after' in part && isRecord.get(part.after.id, row.ref) !== undefined;
    return { row, open, faults, failures, openNos: new Set(turns.map(({ no }) => no)), continues };
  }

  /** Returns the record before the first one of the part. */
  function placeBefore({ row, continues }: Head, part: ThreadPart | undefined): Place {
    if (part !== undefined && 'newest' in part) return selectNth.get(row.ref, part.newest) ?? START;
    return continues && part !== undefined
      ? { turnNo: part.after.turnNo, position: Number.MAX_SAFE_INTEGER }
      : START;
  }

  /** Adds a page of settled messages, and returns where the next page begins; undefined: the thread is complete. */
  function addPage({ row, openNos }: Head, after: Place, settled: Message[]): Place | undefined {
    let rows = 0;
    let chars = 0;
    for (const values of selectMessages.iterate(row.ref, after.turnNo, after.position, row.last_turn_no)) {
      const [, , turnNo, position] = values;
      if (!openNos.has(turnNo)) settled.push(toMessage(values));
      rows += 1;
      chars += charsOf(values);
      if (rows >= ROWS_A_PAGE || chars >= PAGE_CHARS) return { turnNo, position };
    }
    return undefined;
  }

  // One transaction, so that head and messages belong to one snapshot.
  const readFirst = db.transaction((id: string, part: ThreadPart | undefined) => {
    const head = readHead(id, part);
    if (typeof head === 'string') return head;
    const settled: Message[] = [];
    return { head, settled, next: addPage(head, placeBefore(head, part), settled) };
  });
  const readNext = db.transaction((head: Head, after: Place, settled: Message[]) => {
    const now = selectIncarnation.get(head.row.id);
    return now === head.row.incarnation ? addPage(head, after, settled) : 'restart';
  });

  return async function load(id, part) {
    // Checks without a transaction first: most unknown ids are new sessions, and a transaction costs more than a lookup.
    if (isKnown.get(id) === undefined) return 'unknown';
    const first = readFirst(id, part);
    if (typeof first === 'string') return first;
    const { head, settled } = first;
    for (let next = first.next; next !== undefined;) {
      await setImmediate();
      const place = readNext(head, next, settled);
      if (place === 'restart') return load(id, part);
      next = place;
    }
    const { row, open, faults, failures, continues } = head;
    const isWhole = !continues && (part === undefined || !('newest' in part));
    const read = [...settled, ...open.flatMap(({ messages }) => messages)];
    const skipped = isWhole ? 0 : row.shown_messages - shownIn(read);
    const skippedFailures = isWhole ? 0 : failures - failuresIn(read);
    return { session: toSession(row), settled, skipped, skippedFailures, continues, open, faults };
  };
}
