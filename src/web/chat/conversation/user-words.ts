/** Words of the service for developers, and what a person does on this page instead. */
const WORDS = [
  [
    /Store it (again )?with POST \/api\/secrets( and send its client_id)?/g,
    'Store it $1in the section Assistant of this page',
  ],
  [/Sign in: GET \/api\/wallet\/nonce.*? as X-Wallet-Proof/g, 'Sign in in the section Wallet of this page'],
] as const;

/**
 * Returns the message of an error for the users of the page: in their words, and without the HTTP status, unless
 * nothing else is known of the failure.
 */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return inUserWords(message.replace(/(?<!^The request failed) \(HTTP \d{3}\)$/, ''));
}

/** Returns an error of the service in words for the people who use the page. */
export function inUserWords(text: string): string {
  return WORDS.reduce((words, [theirs, ours]) => words.replaceAll(theirs, ours), text);
}
