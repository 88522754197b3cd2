import type { JsonObject } from './json.js';
import { RefusedError } from './refusal.js';
import type { SessionRef } from './session.js';
import { wellFormed } from './text.js';

/** A message to accept. */
export interface SendRequest {
  readonly session: SessionRef;
  readonly text: string;
  readonly app: string;
  /** The App key as received. */
  readonly key: string | undefined;
  readonly wallet?: string | undefined;
  /** Proves that the wallet is the caller's, if the service requires it. */
  readonly walletProof?: string | undefined;
  /** A merge patch of the user state, as received. */
  readonly userState?: JsonObject | undefined;
  readonly clientId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The result of accepting a message, or of recognizing one that was accepted before. */
export interface Sent {
  readonly sessionId: string;
  readonly turnId: string;
  /** True if the idempotency key identifies the message as a repeat. */
  readonly repeated: boolean;
}

/** A message that a client reported, as the service has taken it. */
export interface SystemMessage {
  readonly content: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Makes the text of a message well-formed.
 * @param maxBytes in UTF-8
 * @throws RefusedError `invalid` for a NUL character and for text that is too long
 */
export function messageText(given: string, maxBytes: number): string {
  if (given.includes('\0')) {
    throw new RefusedError('invalid', 'The message has a NUL character, which cannot be stored', [
      { path: 'message', message: 'must not have NUL characters' },
    ]);
  }
  const text = wellFormed(given);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    const message = `The message has ${String(bytes)} bytes; at most ${String(maxBytes)} are taken`;
    throw new RefusedError('invalid', message, [{ path: 'message', message: 'is too long' }]);
  }
  return text;
}
