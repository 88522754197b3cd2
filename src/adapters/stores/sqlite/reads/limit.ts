/**
 * A bound `LIMIT`. With a bare parameter SQLite (since 3.47) plans by its value, so that it compiles the statement anew
 * each time it is run: 40 µs of CPU time instead of 2 for the head of an empty queue.
 */
export const LIMIT = 'LIMIT CAST(? AS INTEGER)';

/** The same with a name. */
export function limitOf(name: string): string {
  return `LIMIT CAST(@${name} AS INTEGER)`;
}
