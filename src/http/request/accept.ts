import { listHeader, splitHeader } from './list-header.js';

/**
 * True when an `Accept` header (RFC 9110 §12.5.1) allows a media type. Ignores all parameters of a range except its
 * weight. The most specific matching range decides, and the highest weight among equal ranges.
 * @param header absent, blank or longer than 8 KiB: every type is allowed
 * @param type such as `text/event-stream`, in lower case
 */
export function accepts(header: string | undefined, type: string): boolean {
  const list = listHeader(header)?.trim() ?? '';
  if (list === '') return true;
  const ranges = [type, `${type.split('/', 1).join('')}/*`, '*/*'];
  const weights = new Map<string, number>();
  for (const part of splitHeader(list, ',')) {
    const [range = '', ...parameters] = splitHeader(part, ';').map((text) => text.trim().toLowerCase());
    if (!ranges.includes(range)) continue;
    weights.set(range, Math.max(weights.get(range) ?? 0, weightOf(parameters)));
  }
  const decisive = ranges.find((range) => weights.has(range));
  return decisive !== undefined && (weights.get(decisive) ?? 0) > 0;
}

/** @returns 1 when there is no weight, 0 when the weight is not a number */
function weightOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))?.replace(/^q\s*=\s*/, '');
  if (weight === undefined) return 1;
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
}
