import type { Run } from '../../src/adapters/stores/postgres/connections.js';

/** A way to run statements that records their names, in order. */
export function countedRun(run: Run): { readonly run: Run; readonly statements: string[] } {
  const statements: string[] = [];
  return {
    statements,
    run: (statement, values) => {
      statements.push(statement.name);
      return run(statement, values);
    },
  };
}
