import type { CallHolder, OpenCall, OpenCallSight } from '../../../src/core/ports/call-store.js';
import type { EventBody, Commit } from '../../../src/core/model/event.js';
import type { Lease } from '../../../src/core/model/turn.js';
import { commit, findLive, type KeptCall, type State } from './state.js';

/** See `CallStore`. */
export function openCall(
  state: State,
  call: OpenCall,
  { lease, event, at }: { lease: Lease; event: EventBody; at: number },
): Commit | undefined {
  const kept = findLive(state, call.sessionId);
  if (kept === undefined) return undefined;
  state.calls.set(call.callId, { ...call, owner: lease.owner, leaseUntil: Date.now() + lease.milliseconds });
  return commit(kept, [event], at);
}

/** See `CallStore`. */
export function logCall(
  state: State,
  callId: string,
  { owner, event, at }: { owner: string; event: EventBody; at: number },
): Commit | undefined {
  const call = state.calls.get(callId);
  const kept = call?.owner === owner ? findLive(state, call.sessionId) : undefined;
  return kept && commit(kept, [event], at);
}

/** See `CallStore`. */
export function closeCall(
  state: State,
  callId: string,
  { holder, event, at }: { holder: CallHolder; event: EventBody; at: number },
): { readonly sessionId: string; readonly commit: Commit } | undefined {
  const call = state.calls.get(callId);
  if (call === undefined) return undefined;
  const holds = 'owner' in holder ? call.owner === holder.owner : markOf(call) === holder.mark;
  if (!holds) return undefined;
  state.calls.delete(callId);
  const kept = findLive(state, call.sessionId);
  return kept && { sessionId: call.sessionId, commit: commit(kept, [event], at) };
}

/** See `CallStore`. */
export function readCallLeases(state: State): OpenCallSight[] {
  return [...state.calls.values()].map((call) => ({
    ...{ id: call.callId, mark: markOf(call), toolName: call.toolName },
    leftMs: call.leaseUntil - Date.now(),
  }));
}

/** See `CallStore`. */
export function renewCalls(state: State, lease: Lease, callIds: readonly string[]): void {
  for (const id of callIds) {
    const call = state.calls.get(id);
    if (call?.owner === lease.owner) call.leaseUntil = Date.now() + lease.milliseconds;
  }
}

function markOf({ owner, leaseUntil }: KeptCall): string {
  return `${owner}:${String(leaseUntil)}`;
}
