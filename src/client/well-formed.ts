/** Replaces lone surrogates and NUL by U+FFFD, as the service does, so that a sent text equals the stored one. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD').replaceAll('\0', '\uFFFD');
}
