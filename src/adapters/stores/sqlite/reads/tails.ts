import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { SystemFault } from '../../../../core/model/event.js';
import { shownCount, type Message } from '../../../../core/model/message.js';
import { PAGE_CHARS, type StoredTail, type TailStore } from '../../../../core/ports/stored-thread.js';
import {
  charsOf,
  FAILURE_COUNT,
  MESSAGE_COLUMNS,
  SESSION_FAULTS,
  toMessage,
  toTurn,
  type MessageValues,
  type TurnRow,
} from '../rows/turn-rows.js';
import { SESSION_COLUMNS, toSession, type SessionRow } from '../rows/session-row.js';

/** Limit of one page besides `PAGE_CHARS`, after which other work can run: a long tail must not block the event loop. */
const ROWS_A_PAGE = 500;

/** The end of a thread, while it is being read backward. */
interface Tail {
  readonly row: SessionRow;
  readonly open: StoredTail['open'];
  readonly faults: readonly SystemFault[];
  /** How many records of the session state why their turn failed. */
  readonly failures: number;
  /** The last messages, newest first. */
  readonly messages: Message[];
  /** How many messages a snapshot shows for these. */
  shown: number;
}

/** A position in a thread: the messages before it are still to be read. */
interface Place {
  readonly turnNo: number;
  readonly position: number;
}

const END: Place = { turnNo: Number.MAX_SAFE_INTEGER, position: 0 };

/**
 * Reads the ends of threads. The messages of open turns are read in one transaction with the session. Those of ended
 * turns never change, so they can be read in later pages; the read restarts if the session is deleted in between.
 */
export function createTailReader(db: Database): TailStore['loadTail'] {
  const selectSession = db.prepare<[string], SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`,
  );
  const selectIncarnation = db
    .prepare<[string], number>('SELECT incarnation FROM sessions WHERE id = ?')
    .pluck();
  const selectRunning = db.prepare<[number], TurnRow>(
    "SELECT *, '' AS session_id FROM turns WHERE session = ? AND status = 'running'",
  );
  const selectQueued = db.prepare<[number], TurnRow>(
    "SELECT *, '' AS session_id FROM turns WHERE session = ? AND status = 'queued' ORDER BY no",
  );
  const selectFaults = db.prepare<[number, number], SystemFault>(SESSION_FAULTS);
  const countFailures = db.prepare<[number], number>(FAILURE_COUNT).pluck();
  const selectBefore = db
    .prepare<[session: number, turnNo: number, position: number], MessageValues>(
      `SELECT t.id, ${MESSAGE_COLUMNS} FROM messages m CROSS JOIN turns t ON t.session = m.session AND t.no = m.turn_no
       WHERE m.session = ? AND (m.turn_no, m.position) < (?, ?)
         AND (m.role <> 'assistant' OR m.content <> '' OR json_array_length(m.tool_results) > 0)
       ORDER BY m.turn_no DESC, m.position DESC`,
    )
    .raw();

  /** Adds messages before a place, and returns where the next page begins; undefined: the tail is complete. */
  function addPage(tail: Tail, before: Place, count: number): Place | undefined {
    if (tail.shown >= count) return undefined;
    const firstOpen = tail.open[0]?.turn.no ?? Infinity;
    let rows = 0;
    let chars = 0;
    for (const values of selectBefore.iterate(tail.row.ref, before.turnNo, before.position)) {
      const message = toMessage(values);
      tail.messages.push(message);
      tail.shown += shownCount(message);
      if (tail.shown >= count) return undefined;
      rows += 1;
      chars += charsOf(values);
      const { turnNo, position } = message;
      const isFull = rows >= ROWS_A_PAGE || chars >= PAGE_CHARS;
      // The messages of open turns can change: they must be read in the session's transaction.
      if (isFull && turnNo < firstOpen) return { turnNo, position };
    }
    return undefined;
  }

  const readFirst = db.transaction((id: string, count: number) => {
    const row = selectSession.get(id);
    if (row === undefined) return 'unknown';
    if (row.deleted_at !== null) return 'deleted';
    const turns = [...selectRunning.all(row.ref), ...selectQueued.all(row.ref)];
    const open = turns.map((turn) => ({
      turn: toTurn({ ...turn, session_id: id }),
      partialText: turn.partial_text,
      partialSince: turn.partial_since,
    }));
    const faults = selectFaults.all(row.ref, row.faults_shown);
    const failures = countFailures.get(row.ref) ?? 0;
    const tail: Tail = { row, open, faults, failures, messages: [], shown: 0 };
    return { tail, next: addPage(tail, END, count) };
  });
  const readNext = db.transaction((tail: Tail, before: Place, count: number) =>
    selectIncarnation.get(tail.row.id) === tail.row.incarnation ? addPage(tail, before, count) : 'restart',
  );

  return async function load(id, count) {
    const first = readFirst(id, count);
    if (typeof first === 'string') return first;
    const { tail } = first;
    for (let next = first.next; next !== undefined;) {
      await setImmediate();
      const place = readNext(tail, next, count);
      if (place === 'restart') return load(id, count);
      next = place;
    }
    const { row, messages, ...rest } = tail;
    return { ...rest, session: toSession(row), messages: messages.reverse(), shown: row.shown_messages };
  };
}
