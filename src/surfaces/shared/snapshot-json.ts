import type { Snapshot } from '../../core/model/snapshot.js';
import { shownUserState } from '../../core/model/user-state.js';
import type { EncodeMessages } from './messages.js';
import { systemEvent } from './system-messages.js';

const MESSAGES = Buffer.from('{"messages":[');

/** A session snapshot as JSON in pieces, and the number of messages in its thread. */
export interface SnapshotJson {
  readonly body: readonly Buffer[];
  readonly total: number;
}

/**
 * Encodes a session snapshot, its fields in the documented order.
 * @param tail number of last messages to include; absent: all
 */
export function snapshotJson(
  snapshot: Snapshot,
  encodeMessages: EncodeMessages,
  tail?: number,
): SnapshotJson {
  const { session, status, faults } = snapshot;
  const rest = {
    system_events: faults.events.map(systemEvent),
    title: session.title,
    is_processing: status === 'processing',
    user_state: shownUserState(session.userState, session.pending),
  };
  const end = `],${JSON.stringify(rest).slice(1)}`;
  const { json: body, total } = encodeMessages(snapshot, { start: MESSAGES, end }, tail);
  return { body, total };
}
