import type { Bindable, Run, Statement } from './connections.js';

/** Builds the statement that calls an SQL function with `count` parameters. */
export function callOf(name: string, count: number): Statement {
  const places = Array.from({ length: count }, (_, index) => `$${String(index + 1)}`).join(', ');
  return { name, text: `SELECT ${name}(${places}) AS result` };
}

/**
 * Calls an SQL function that returns one value.
 * @throws StoreUnavailableError
 */
export async function resultOf<R>(run: Run, statement: Statement, values: readonly Bindable[]): Promise<R> {
  const [row] = await run<{ result: R }>(statement, values);
  if (row === undefined) throw new Error(`${statement.name} returned no row`);
  return row.result;
}
