/**
 * Replaces lone surrogates by U+FFFD, as the service does, so that a sent text equals the stored one, and NUL, which the
 * service refuses.
 */
export function wellFormed(text: string): string {
  return text.replace(/[\p{Surrogate}\0]/gu, '\uFFFD');
}
