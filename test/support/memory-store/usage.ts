import { sumOf } from '../../../src/core/operations/usage.js';
import type { CountedSurface, SurfaceSeen, UsageRow } from '../../../src/core/ports/usage-store.js';
import type { State } from './state.js';

/** See `UsageStore`. */
export function addUsage(state: State, rows: readonly UsageRow[]): void {
  for (const row of rows) {
    const key = JSON.stringify(placeOf(row));
    const there = state.usage.get(key);
    state.usage.set(key, there === undefined ? row : { ...row, ...sumOf(there, row) });
  }
}

/** See `UsageStore`. */
export function readUsage(state: State, since: number): { rows: UsageRow[]; seen: SurfaceSeen[] } {
  const all = [...state.usage.values()];
  const rows = all.filter(({ day }) => day >= since).sort(byPlace);
  const seen = (['current', 'legacy'] satisfies CountedSurface[]).flatMap((surface) => {
    const of = all.filter((row) => row.surface === surface);
    if (of.length === 0) return [];
    const firstAt = Math.min(...of.map((row) => row.firstAt));
    return [{ surface, firstAt, lastAt: Math.max(...of.map((row) => row.lastAt)) }];
  });
  return { rows, seen };
}

/** See `UsageStore`. */
export function readUsageClients(state: State, since: number): string[] {
  const recent = [...state.usage.values()].filter(({ day }) => day >= since);
  return [...new Set(recent.map(({ client }) => client))].sort();
}

function placeOf({ day, surface, endpoint, keyId, client }: UsageRow) {
  return [day, surface, endpoint, keyId ?? '', client] as const;
}

function byPlace(a: UsageRow, b: UsageRow): number {
  if (a.day !== b.day) return a.day - b.day;
  const [left, right] = [placeOf(a).slice(1).join('\0'), placeOf(b).slice(1).join('\0')];
  return left < right ? -1 : 1;
}
