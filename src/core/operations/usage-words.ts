const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Formats a count with its noun: `1 day`, `3 days`. */
export function count(number: number, thing: string): string {
  return `${String(number)} ${thing}${number === 1 ? '' : 's'}`;
}

/** Formats an age in one unit, rounded down: `2 hours ago`. */
export function ago(milliseconds: number): string {
  if (milliseconds < MINUTE_MS) return 'just now';
  if (milliseconds < HOUR_MS) return `${count(Math.floor(milliseconds / MINUTE_MS), 'minute')} ago`;
  if (milliseconds < 2 * DAY_MS) return `${count(Math.floor(milliseconds / HOUR_MS), 'hour')} ago`;
  return `${count(Math.floor(milliseconds / DAY_MS), 'day')} ago`;
}
