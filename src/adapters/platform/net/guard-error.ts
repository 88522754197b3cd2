/**
 * A request was rejected or failed. `message` is safe to show to a user: it may name a host, but no URL and no header.
 */
export class GuardError extends Error {
  override readonly name = 'GuardError';
}
