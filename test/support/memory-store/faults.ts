import type { SystemFault } from '../../../src/core/model/event.js';
import type { ClaimedFaults } from '../../../src/core/ports/fault-store.js';
import type { Lease } from '../../../src/core/model/turn.js';
import { findLive, type KeptSession, type State } from './state.js';

/** The system events that exactly one snapshot carries and none has carried yet. */
export function unshownFaults(kept: KeptSession): SystemFault[] {
  return kept.systemEvents
    .filter(({ n }) => n > kept.faultsShown)
    .flatMap(({ n, kind, text }) => (kind === 'SystemNotice' ? [] : [{ n, kind, text }]));
}

/** See `Store`. */
export function claimFaults(
  state: State,
  id: string,
  { owner, milliseconds }: Lease,
  lost: string | null,
): ClaimedFaults {
  const kept = findLive(state, id);
  if (kept === undefined) return { faults: [], shown: 0, held: null };
  const { faultsClaim, faultsShown: shown } = kept;
  const now = Date.now();
  if (faultsClaim !== null && faultsClaim.owner !== owner && faultsClaim.until > now) {
    const held = `${faultsClaim.owner}:${String(faultsClaim.until)}`;
    if (held !== lost) return { faults: [], shown, held };
  }
  const faults = unshownFaults(kept);
  if (faults.length > 0) kept.faultsClaim = { owner, until: now + milliseconds };
  return { faults, shown, held: null };
}

/** See `Store`. */
export function releaseFaults(state: State, id: string, owner: string): void {
  const kept = findLive(state, id);
  if (kept?.faultsClaim?.owner === owner) kept.faultsClaim = null;
}

/** See `Store`. */
export function markFaultsShown(state: State, id: string, n: number): void {
  const kept = findLive(state, id);
  if (kept !== undefined) kept.faultsShown = Math.max(kept.faultsShown, n);
}
