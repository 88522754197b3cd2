/** The cryptographic functions that the core uses. */
export interface Digests {
  /** SHA-256 in lower-case hex. */
  sha256(text: string): string;
  /** Compares in constant time. */
  equal(a: string, b: string): boolean;
}
