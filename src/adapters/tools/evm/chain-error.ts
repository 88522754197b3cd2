/** A chain request failed. `message` is safe to show to the user: no URL, no key, and no text from a node. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
}
