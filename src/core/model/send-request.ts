import type { JsonObject } from './json.js';
import type { SessionRef } from './session.js';

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
