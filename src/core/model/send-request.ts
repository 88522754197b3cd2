import type { JsonObject } from './json.js';
import type { SessionRef } from './session.js';

/** A message to accept. */
export interface SendRequest {
  readonly session: SessionRef;
  readonly text: string;
  readonly app: string;
  /** The App key as the caller gave it; undefined: none. */
  readonly key: string | undefined;
  readonly wallet?: string | undefined;
  /** Shows that the wallet is the caller's, where that is asked for. */
  readonly walletProof?: string | undefined;
  /** A patch of the user state, as received. */
  readonly userState?: JsonObject | undefined;
  readonly clientId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The core took a message, or recognised one that it had taken before. */
export interface Sent {
  readonly sessionId: string;
  readonly turnId: string;
  /** True when an idempotency key showed that this is a repeat. */
  readonly repeated: boolean;
}
