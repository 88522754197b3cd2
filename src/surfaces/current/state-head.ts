/**
 * A quiet session's snapshot is handed out again and again while it is polled (`core/sessions/snapshots.ts`), and keeps
 * the lines of its head: its tag, and with the cursor all that an answer says when nothing has changed. Measured: 4 %
 * of the instructions of a 304.
 */
import type { Snapshot } from '../../core/model/snapshot.js';
import { sessionMark } from '../session.js';

/** What the head of a state says of it. */
export interface StateHead {
  readonly etag: string;
  /** The lines of an answer that says no more than that nothing has changed, once there was one. */
  unchanged: string | undefined;
}

/** Where a snapshot carries its head, whole. */
const HEAD: unique symbol = Symbol('head');

declare module '../../core/model/snapshot.js' {
  interface Snapshot {
    [HEAD]?: StateHead | undefined;
  }
}

/** The head of the state that a snapshot shows, or of its last `tail` messages. */
export function headOf(snapshot: Snapshot, tail: number | undefined): StateHead {
  if (tail !== undefined) return makeHead(snapshot, `-${String(tail)}`);
  return (snapshot[HEAD] ??= makeHead(snapshot, ''));
}

function makeHead({ session, tag }: Snapshot, part: string): StateHead {
  return { etag: `W/"${sessionMark(session.id)}-${tag}${part}"`, unchanged: undefined };
}
