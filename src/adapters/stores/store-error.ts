/** The database refused a statement: a bug, unlike `StoreUnavailableError`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
