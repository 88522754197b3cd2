import type { EventBody, Commit } from '../model/event.js';
import type { LeaseSight } from './lease-store.js';
import type { Lease } from '../model/turn.js';

/** A tool call outside a turn that has started and has not ended. */
export interface OpenCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly toolName: string;
}

/** The lease of an open call as read from the store. Its `id` is that of the call. */
export type OpenCallSight = LeaseSight & Pick<OpenCall, 'toolName'>;

/** The grant of a call's lease that must still be current: that of an owner, or the one with a mark. */
export type CallHolder = { readonly owner: string } | { readonly mark: string };

/** Stores the leases and events of tool calls outside turns. */
export interface CallStore {
  /** Stores a call and logs its first event. Undefined: the session is not stored, and nothing was written. */
  openCall(call: OpenCall, lease: Lease, event: EventBody, at: number): Promise<Commit | undefined>;
  /** Logs an event of a call that `owner` still owns. Undefined: another owner has ended it, and nothing was logged. */
  logCall(callId: string, owner: string, event: EventBody, at: number): Promise<Commit | undefined>;
  /**
   * Logs the last event of a call and removes the call. Undefined: another owner has ended it or renewed its lease, or
   * its session was deleted, and nothing was logged.
   */
  closeCall(
    callId: string,
    holder: CallHolder,
    event: EventBody,
    at: number,
  ): Promise<{ readonly sessionId: string; readonly commit: Commit } | undefined>;
  /** Reads the leases of all open calls. */
  readCallLeases(): Promise<OpenCallSight[]>;
  /** Renews the leases of those calls that `lease.owner` still owns. */
  renewCalls(lease: Lease, callIds: readonly string[]): Promise<void>;
}
