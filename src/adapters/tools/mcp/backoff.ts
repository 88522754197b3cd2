import type { McpTiming } from './settings.js';

/** The pause after so many failures in a row, in milliseconds: doubling, bounded, spread over half of itself. */
export function pauseAfter(
  failures: number,
  timing: Pick<McpTiming, 'firstRetryMs' | 'maxRetryMs'>,
  random: () => number = Math.random,
): number {
  const full = Math.min(timing.maxRetryMs, timing.firstRetryMs * 2 ** Math.min(failures - 1, 30));
  return full * (0.5 + random() / 2);
}
