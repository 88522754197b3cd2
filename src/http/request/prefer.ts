import { listHeader, splitHeader } from './list-header.js';

/**
 * Returns the seconds of `wait` in a `Prefer` header (RFC 7240), capped at `most`. The first `wait` counts. Ignores a
 * header that is longer than 8 KiB.
 * @returns undefined when `wait` is absent or not a number: preferences that cannot be honored are ignored
 */
export function preferredWait(header: string | undefined, most: number): number | undefined {
  for (const preference of splitHeader(listHeader(header) ?? '', ',')) {
    const [, name, value = ''] = /^\s*([^=;\s]+)\s*(?:=\s*([^;]*))?/.exec(preference) ?? [];
    if (name?.toLowerCase() !== 'wait') continue;
    const digits = /^"?(\d{1,9})"?$/.exec(value.trim())?.[1];
    return digits === undefined ? undefined : Math.min(Number(digits), most);
  }
  return undefined;
}
