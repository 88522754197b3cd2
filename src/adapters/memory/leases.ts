import type { Lease } from '../../core/store.js';
import type { ClaimedTurn } from '../../core/turn.js';
import { claim, queuedTurns, runningTurn, type KeptTurn, type State } from './state.js';
import { findTurn } from './turns.js';

/** See `Store`. */
export function takeOver(state: State, turnId: string, lease: Lease): ClaimedTurn | undefined {
  const found = findTurn(state, turnId)?.found;
  return found?.turn.status === 'running' ? claim(found, lease) : undefined;
}

/** See `Store`. */
export function claimAbandoned(state: State, lease: Lease, limit: number): ClaimedTurn[] {
  const sessions = [...state.sessions.values()];
  const lost: KeptTurn[] = [];
  const waiting: KeptTurn[] = [];
  for (const kept of sessions) {
    const running = runningTurn(kept);
    const [head] = queuedTurns(kept);
    if (running !== undefined) {
      if (running.owner === null || running.leaseUntil <= Date.now()) lost.push(running);
    } else if (head !== undefined) waiting.push(head);
  }
  return [...lost, ...waiting].slice(0, limit).map((kept) => {
    if (kept.owner !== null) kept.losses += 1;
    return claim(kept, lease);
  });
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
