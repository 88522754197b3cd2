import type { OverviewStore } from '../../../src/core/ports/overview-store.js';
import type { State } from './state.js';

type Answer<K extends keyof OverviewStore> = Awaited<ReturnType<OverviewStore[K]>>;

/** See `OverviewStore`. */
export function readOpenTurns(state: State, limit: number): Answer<'readOpenTurns'> {
  return [...state.sessions.values()]
    .flatMap(({ turns }) => turns)
    .flatMap(({ turn: { id, sessionId, status, app, keyId, createdAt }, attempt }) =>
      status === 'queued' || status === 'running'
        ? [{ turnId: id, sessionId, status, app, keyId, attempt, createdAt }]
        : [],
    )
    .sort((a, b) => a.createdAt - b.createdAt)
    .slice(0, limit);
}

/** See `OverviewStore`. */
export function countSessions(state: State, since: number, limit: number): number {
  const active = [...state.sessions.values()].filter(
    ({ deleted, session }) => !deleted && session.activeAt >= since,
  );
  return Math.min(active.length, limit);
}

/** See `OverviewStore`. */
export function readUses(state: State, from: number, limit: number): Answer<'readUses'> {
  return [...state.uses.values()]
    .filter((use) => use.from >= from && /^(session|key):/.test(use.subject))
    .sort((a, b) => b.amount - a.amount || (a.subject < b.subject ? -1 : 1))
    .slice(0, limit);
}
