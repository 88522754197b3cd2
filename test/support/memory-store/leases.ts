import type { LeaseMark, LeaseSight } from '../../../src/core/ports/lease-store.js';
import type { Lease, ClaimedTurn } from '../../../src/core/model/turn.js';
import { claim, queuedTurns, runningTurn, type KeptTurn, type State } from './state.js';
import { findTurn } from './turns.js';

/** See `Store`. */
export function takeOver(state: State, turnId: string, lease: Lease): ClaimedTurn | undefined {
  const found = findTurn(state, turnId)?.found;
  return found?.turn.status === 'running' ? claim(found, lease) : undefined;
}

/** See `Store`. */
export function readLeases(state: State): LeaseSight[] {
  return [...state.sessions.values()].flatMap((kept) => {
    const running = runningTurn(kept);
    if (running === undefined || running.owner === null) return [];
    return [{ id: running.turn.id, mark: markOf(running), leftMs: running.leaseUntil - Date.now() }];
  });
}

/** See `Store`. */
export function claimAbandoned(
  state: State,
  lease: Lease,
  lost: readonly LeaseMark[],
  limit: number,
): ClaimedTurn[] {
  const marks = new Map(lost.map(({ id, mark }) => [id, mark]));
  const free: KeptTurn[] = [];
  const waiting: KeptTurn[] = [];
  for (const kept of state.sessions.values()) {
    const running = runningTurn(kept);
    const [head] = queuedTurns(kept);
    if (running !== undefined) {
      if (running.owner === null || marks.get(running.turn.id) === markOf(running)) free.push(running);
    } else if (head !== undefined) waiting.push(head);
  }
  return [...free, ...waiting].slice(0, limit).map((kept) => {
    if (kept.owner !== null) kept.losses += 1;
    return claim(kept, lease);
  });
}

function markOf({ attempt, leaseUntil }: KeptTurn): string {
  return `${String(attempt)}:${String(leaseUntil)}`;
}

/** The running turns among these that `owner` has. */
function ownedBy(state: State, owner: string, turnIds: readonly string[]): KeptTurn[] {
  return turnIds
    .map((id) => findTurn(state, id)?.found)
    .filter((found) => found !== undefined)
    .filter((found) => found.turn.status === 'running' && found.owner === owner);
}

/** See `Store`. */
export function renewLeases(state: State, lease: Lease, turnIds: readonly string[]) {
  return ownedBy(state, lease.owner, turnIds).map((kept) => {
    kept.leaseUntil = Date.now() + lease.milliseconds;
    return { turnId: kept.turn.id, cancelRequested: kept.cancelRequested };
  });
}

/** See `Store`. */
export function releaseTurns(state: State, owner: string, turnIds: readonly string[]): void {
  for (const kept of ownedBy(state, owner, turnIds)) {
    kept.owner = null;
    kept.leaseUntil = 0;
  }
}
