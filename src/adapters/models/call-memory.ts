import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { JsonObject } from '../../core/model/json.js';

/** What a provider attached to a tool call and expects back with the history. */
export interface Attached {
  /** The metadata of the call, from a provider package. */
  readonly metadata?: SharedV3ProviderMetadata | undefined;
  /** Fields of the message that made the call, in a chat completion. Stored with the first call of the message. */
  readonly message?: JsonObject | undefined;
  /** The `extra_content` of the call, in a chat completion. */
  readonly extra?: JsonObject | undefined;
}

/** The memory of the calls of one session to one rig. */
export interface SessionCalls {
  /** @param attached undefined: nothing; what an earlier call of this id had is forgotten */
  remember(callId: string, attached: Attached | undefined): void;
  recall(callId: string): Attached | undefined;
}

interface Limits {
  readonly calls: number;
  /** The length of all entries as JSON. */
  readonly characters: number;
}

const LIMITS: Limits = { calls: 2_000, characters: 16_777_216 };

/**
 * Remembers what providers attached to the most recent tool calls of this process, for all rigs
 * (docs/decisions/036-reasoning-sent-back.md). Nothing of it is stored: a turn that another process takes over sends
 * none.
 */
export class CallMemory {
  readonly #kept = new Map<string, { readonly attached: Attached; readonly size: number }>();
  #size = 0;

  constructor(private readonly limits: Limits = LIMITS) {}

  /** @param sessionId absent for a request that belongs to no session */
  ofSession(rigId: string, sessionId = ''): SessionCalls {
    const keyOf = (callId: string): string => JSON.stringify([rigId, sessionId, callId]);
    return {
      remember: (callId, attached) => {
        this.#add(keyOf(callId), attached);
      },
      recall: (callId) => this.#kept.get(keyOf(callId))?.attached,
    };
  }

  #add(key: string, attached: Attached | undefined): void {
    this.#drop(key);
    if (attached === undefined) return;
    const size = key.length + JSON.stringify(attached).length;
    if (size > this.limits.characters) return;
    this.#kept.set(key, { attached, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.limits.calls && this.#size <= this.limits.characters) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}
