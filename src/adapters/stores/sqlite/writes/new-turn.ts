import type { Message } from '../../../../core/model/message.js';
import type { ClaimedTurn, Lease, Turn } from '../../../../core/model/turn.js';
import type { SessionRow } from '../rows/session-row.js';
import type { NewTurn, TurnTable } from '../rows/turn-table.js';

/** The record that a turn begins with. */
export type FirstRecord = Pick<Message, 'id' | 'role' | 'origin' | 'content'>;

/** A turn before its session has numbered it. */
type Unnumbered = Omit<NewTurn, 'sessionId' | 'no'>;

/**
 * Counts a new turn in the row of its session, which the caller saves before it inserts the turn.
 * @param size the bytes of its first record
 */
export function countTurn(row: SessionRow, size: number, at: number): void {
  row.active_at = Math.max(row.active_at, at);
  row.last_turn_no += 1;
  row.text_bytes += size;
  row.shown_messages += 1;
}

/**
 * Inserts the turn that was counted last, with its first record.
 * @param how `lease`: claims the turn, which must be the next one; null: queues it
 */
export function insertTurn(
  turns: TurnTable,
  row: SessionRow,
  turn: Unnumbered,
  { first, lease }: { readonly first: FirstRecord; readonly lease: Lease | null },
): { readonly turn: Turn; readonly message: Message; readonly claimed: ClaimedTurn | null } {
  const added: NewTurn = { ...turn, sessionId: row.id, no: row.last_turn_no };
  const claimed = lease === null ? null : turns.insertClaimed(row.ref, added, lease);
  const stored: Turn =
    claimed === null ? turns.insertQueued(row.ref, added) : { ...added, status: 'running', error: null };
  return { turn: stored, message: addFirst(turns, row.ref, added, first), claimed };
}

/** Inserts the turn that was counted last as one that has ended, with its only record. */
export function insertNote(
  turns: TurnTable,
  row: SessionRow,
  turn: Unnumbered,
  first: FirstRecord,
): { readonly turn: Turn; readonly message: Message } {
  const added: NewTurn = { ...turn, sessionId: row.id, no: row.last_turn_no };
  return { turn: turns.insertComplete(row.ref, added), message: addFirst(turns, row.ref, added, first) };
}

function addFirst(turns: TurnTable, session: number, turn: NewTurn, first: FirstRecord): Message {
  const message: Message = {
    ...first,
    turnId: turn.id,
    turnNo: turn.no,
    position: 0,
    toolCalls: null,
    toolResults: null,
    createdAt: turn.createdAt,
  };
  turns.addMessage(session, message);
  return message;
}
