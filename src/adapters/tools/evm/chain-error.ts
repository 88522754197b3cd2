/** Something about a chain went wrong. `message` is for the user: no URL, no key, nothing of a node's own words. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
}
