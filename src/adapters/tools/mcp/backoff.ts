import type { McpTiming } from './settings.js';

/**
 * Exponential backoff with jitter.
 * @param failures consecutive failures so far, at least 1
 * @returns the pause in milliseconds: between 50 % and 100 % of the doubled and capped delay
 */
export function pauseAfter(
  failures: number,
  timing: Pick<McpTiming, 'firstRetryMs' | 'maxRetryMs'>,
  random: () => number = Math.random,
): number {
  const full = Math.min(timing.maxRetryMs, timing.firstRetryMs * 2 ** Math.min(failures - 1, 30));
  return full * (0.5 + random() / 2);
}
