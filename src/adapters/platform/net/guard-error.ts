/**
 * A request was refused or failed. `message` is fit for a user: it names a host at most, never a whole URL or a header.
 */
export class GuardError extends Error {
  override readonly name = 'GuardError';
}
