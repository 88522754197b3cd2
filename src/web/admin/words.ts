/** Formats numbers and times for the admin page, in the browser's language. */

const number = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

export const count = (value: number): string => number.format(value);
export const compact = (value: number): string => short.format(value);
export const timeOfDay = (iso: string): string => clock.format(new Date(iso));
export const dayOf = (iso: string): string => day.format(new Date(iso));
/** Formats a time with seconds and the time zone, to compare it with logs. */
export const dateTime = (at: string | Date): string => moment.format(new Date(at));

/** Formats a duration: `850 ms`, `1.2 s`, `3 min`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${String(Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${String(Math.round(milliseconds / 60_000))} min`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** Formats a past time: `2 hours ago`. */
export function ago(iso: string): string {
  const passed = Date.now() - Date.parse(iso);
  const [unit, size] = UNITS.find(([, milliseconds]) => passed >= milliseconds) ?? ['second', 1_000];
  return relative.format(-Math.round(passed / size), unit);
}
