import type { UpstreamAnswer } from './classify.js';

/**
 * The retry delay that the provider requests: `retry-after-ms`, `Retry-After` in seconds or as a date
 * (RFC 9110 §10.2.3), or Google's `retryDelay` in the body.
 * @returns milliseconds; undefined when the response names no delay, or one that is over
 */
export function retryAfter(answer: UpstreamAnswer, now: number): number | undefined {
  const delay = namedDelay(answer, now);
  return delay !== undefined && delay > 0 ? delay : undefined;
}

function namedDelay({ headers, body }: UpstreamAnswer, now: number): number | undefined {
  const exact = number(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const header = headers['retry-after'];
  const seconds = number(header);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const date = header === undefined ? Number.NaN : Date.parse(header);
  if (!Number.isNaN(date)) return date - now;
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}

function number(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
