import type { JsonObject } from './json.js';

/**
 * Returns the cursor after a gap: either the events are no longer kept, or the cursor is ahead of the service's events.
 * Undefined if the gap does not say where it is.
 */
export function afterGap(cursor: number | undefined, { from, to }: JsonObject): number | undefined {
  if (typeof from !== 'number' || typeof to !== 'number') return undefined;
  return cursor !== undefined && from === cursor + 1 ? to : Math.max(from - 1, 0);
}
