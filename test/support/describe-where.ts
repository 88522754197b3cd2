import { describe } from '@jest/globals';

/** How long to look for a server, in milliseconds: a busy machine takes long, and where none is, that is said at once. */
export const PATIENCE_MS = 20_000;

/**
 * Makes a `describe` for tests that need something which is not everywhere: where it is missing they are skipped, and
 * that is said.
 * @param missing what is not there, and where it was looked for; null: it is there
 */
export function describeWhere(missing: string | null): (name: string, tests: () => void) => void {
  if (missing === null) return describe;
  // Not by the console: jest shows nothing of suites that are skipped as a whole.
  process.stderr.write(`${missing}\n`);
  return (name, tests) => {
    describe.skip(`${name} (${missing})`, tests);
  };
}
