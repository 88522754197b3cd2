import type { UsageDay } from '../core/operations/usage-report.js';

const WIDTH = 40;
/** Longer periods are drawn by week. */
const MAX_DAYS = 31;

/**
 * Draws the requests of each surface as a bar chart: one bar per day or per seven days, its length proportional to the
 * number of requests. Omits the days before the first request.
 */
export function chartLines(history: readonly UsageDay[]): readonly string[] {
  const begun = history.findIndex(({ current, legacy }) => current + legacy > 0);
  const days = begun === -1 ? [] : history.slice(begun);
  const bars = days.length > MAX_DAYS ? byWeek(days) : days;
  const most = Math.max(1, ...bars.map(({ current, legacy }) => current + legacy));
  const lines = bars.map(({ day, current, legacy }) => {
    const all = current + legacy;
    const old = cells(legacy, most);
    // The whole bar is proportional to the sum, and each surface in use gets at least one cell.
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

/** Rounds down, but never shows a nonzero part as 0 %. */
function percent(part: number, all: number): string {
  if (part > 0 && part / all < 0.01) return '< 1 %';
  return `${String(Math.floor((part / all) * 100))} %`;
}

/** Groups days by seven, counted from the last day, so that the last bar is complete. */
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
