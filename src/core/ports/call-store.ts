import type { EventBody, Commit } from '../model/event.js';
import type { LeaseSight } from './lease-store.js';
import type { Lease } from '../model/turn.js';

/** A call of a tool outside a turn that has begun and has not ended. */
export interface OpenCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly toolName: string;
}

/** An open call, as the store has its lease at one moment; its `id` is that of the call. */
export type OpenCallSight = LeaseSight & Pick<OpenCall, 'toolName'>;

/** Which grant of the lease on a call must still hold: that of an owner, or one that was seen. */
export type CallHolder = { readonly owner: string } | { readonly mark: string };

/** Who works on which call of a tool outside a turn. */
export interface CallStore {
  /** Notes a call and logs its first event. Undefined: its session is not there, and nothing was written. */
  openCall(call: OpenCall, lease: Lease, event: EventBody, at: number): Promise<Commit | undefined>;
  /** Logs an event of a call that `owner` still has. Undefined, and nothing logged: somebody else has ended it. */
  logCall(callId: string, owner: string, event: EventBody, at: number): Promise<Commit | undefined>;
  /**
   * Logs the last event of a call and forgets the call. Undefined, and nothing logged: somebody else has ended it or
   * renewed its lease, or its session was deleted.
   */
  closeCall(
    callId: string,
    holder: CallHolder,
    event: EventBody,
    at: number,
  ): Promise<{ readonly sessionId: string; readonly commit: Commit } | undefined>;
  /** The leases on all open calls. */
  readCallLeases(): Promise<OpenCallSight[]>;
  /** Renews what `lease.owner` still has of these calls. */
  renewCalls(lease: Lease, callIds: readonly string[]): Promise<void>;
}
