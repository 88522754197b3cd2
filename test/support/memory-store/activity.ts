import {
  MAX_FAILURES,
  type ActivityRow,
  type FailureRow,
  type NewActivity,
  type WorkTotal,
} from '../../../src/core/ports/overview-store.js';
import type { NoticeClaim } from '../../../src/core/ports/usage-store.js';
import { findLive, type State } from './state.js';
import { findTurn } from './turns.js';

/** See `OverviewStore`. */
export function saveActivity(state: State, { minutes, failures, work }: NewActivity): void {
  for (const row of minutes) state.activity.set(`${String(row.at)} ${row.node}`, row);
  for (const row of failures) {
    const sessionId = row.sessionId !== null && findLive(state, row.sessionId) ? row.sessionId : null;
    state.failures.set(`${String(row.at)} ${row.turnId}`, { ...row, sessionId });
  }
  const old = newestFailures(state).slice(MAX_FAILURES);
  for (const { at, turnId } of old) state.failures.delete(`${String(at)} ${turnId}`);
  for (const row of work) {
    const key = JSON.stringify([row.day, row.app, row.keyId]);
    const there = state.work.get(key);
    state.work.set(key, there === undefined ? row : { ...row, ...sumOf(there, row) });
  }
}

/** See `OverviewStore`. */
export function readActivity(state: State, since: number): ActivityRow[] {
  return [...state.activity.values()]
    .filter(({ at }) => at >= since)
    .sort((a, b) => a.at - b.at || (a.node < b.node ? -1 : 1));
}

/** See `OverviewStore`. */
export function readFailures(state: State, limit: number): (FailureRow & { error: string | null })[] {
  return newestFailures(state)
    .slice(0, limit)
    .map((row) => ({ ...row, error: findTurn(state, row.turnId)?.found.turn.error ?? null }));
}

/** See `OverviewStore`. */
export function readWork(state: State, since: number): WorkTotal[] {
  const totals = new Map<string, WorkTotal>();
  for (const { day, app, keyId, ...row } of state.work.values()) {
    if (day < since) continue;
    const key = JSON.stringify([app, keyId]);
    const there = totals.get(key) ?? { app, keyId, turns: 0, inputTokens: 0, outputTokens: 0 };
    totals.set(key, { app, keyId, ...sumOf(there, row) });
  }
  return [...totals.values()].sort((a, b) => b.turns - a.turns || (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** See `UsageStore`. */
export function claimNotice(state: State, claim: NoticeClaim): boolean {
  const { name, owner, at, until, deliveredBefore } = claim;
  const there = state.notices.get(name);
  const deliveredAt = there?.deliveredAt ?? null;
  if (there !== undefined && there.until > at) return false;
  if (deliveredAt !== null && (deliveredBefore === null || deliveredAt >= deliveredBefore)) return false;
  state.notices.set(name, { owner, until, deliveredAt });
  return true;
}

/** See `UsageStore`. */
export function settleNotice(state: State, name: string, owner: string, deliveredAt: number): void {
  if (state.notices.get(name)?.owner === owner) state.notices.set(name, { owner, until: 0, deliveredAt });
}

type Numbers = Pick<WorkTotal, 'turns' | 'inputTokens' | 'outputTokens'>;

function sumOf(a: Numbers, b: Numbers): Numbers {
  return {
    turns: a.turns + b.turns,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

function newestFailures(state: State): FailureRow[] {
  return [...state.failures.values()].sort((a, b) => b.at - a.at || (a.turnId > b.turnId ? -1 : 1));
}

function nameOf({ app, keyId }: WorkTotal): string {
  return `${app}\0${keyId ?? ''}`;
}
