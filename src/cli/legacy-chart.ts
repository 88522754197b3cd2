import type { UsageDay } from '../core/operations/usage-report.js';

const WIDTH = 40;
/** More days than these are drawn by weeks. */
const MAX_DAYS = 31;

/**
 * The share of each surface over time: a line for each day, or for each seven of them, as long as its requests are
 * many. Days before the first request are left out.
 */
export function chartLines(history: readonly UsageDay[]): readonly string[] {
  const begun = history.findIndex(({ current, legacy }) => current + legacy > 0);
  const days = begun === -1 ? [] : history.slice(begun);
  const bars = days.length > MAX_DAYS ? byWeek(days) : days;
  const most = Math.max(1, ...bars.map(({ current, legacy }) => current + legacy));
  const lines = bars.map(({ day, current, legacy }) => {
    const all = current + legacy;
    const old = cells(legacy, most);
    // Together they are as long as the sum, and a surface that was used shows.
    const bar =
      '▓'.repeat(old) + '░'.repeat(Math.max(cells(all, most) - old, cells(current, most) > 0 ? 1 : 0));
    const share = all === 0 ? '' : `${String(legacy)} of ${String(all)} (${percent(legacy, all)})`;
    return `${new Date(day).toISOString().slice(0, 10)}  ${bar.padEnd(WIDTH + 1)} ${share}`.trimEnd();
  });
  const unit = days.length > MAX_DAYS ? 'week' : 'day';
  return [`Requests a ${unit} (UTC): ▓ legacy, ░ current`, ...lines];
}

function cells(requests: number, most: number): number {
  return requests === 0 ? 0 : Math.max(1, Math.round((requests / most) * WIDTH));
}

/** Rounded, but nothing that is there shows as 0 %. */
function percent(part: number, all: number): string {
  if (part > 0 && part / all < 0.01) return '< 1 %';
  return `${String(Math.floor((part / all) * 100))} %`;
}

/** Sevens of days, counted from the last one, so that the last bar is whole. */
function byWeek(days: readonly UsageDay[]): UsageDay[] {
  const weeks: UsageDay[] = [];
  for (let end = days.length; end > 0; end -= 7) {
    const week = days.slice(Math.max(0, end - 7), end);
    weeks.unshift({
      day: week[0]?.day ?? 0,
      current: week.reduce((sum, { current }) => sum + current, 0),
      legacy: week.reduce((sum, { legacy }) => sum + legacy, 0),
    });
  }
  return weeks;
}
