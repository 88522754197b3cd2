import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';

/** Remembers the metadata that a provider attached to tool calls, to send it back with the history. */
export interface CallMemory {
  remember(callId: string, metadata: SharedV3ProviderMetadata): void;
  recall(callId: string): SharedV3ProviderMetadata | undefined;
}

/**
 * Keeps the metadata of the most recent calls. Gemini signs its calls and requires the signature back within the same
 * turn; a turn that another process takes over sends none.
 * @param limit how many calls are kept
 */
export function createCallMemory(limit = 2_000): CallMemory {
  const kept = new Map<string, SharedV3ProviderMetadata>();
  return {
    remember(callId, metadata) {
      kept.delete(callId);
      kept.set(callId, metadata);
      const [oldest] = kept.keys();
      if (kept.size > limit && oldest !== undefined) kept.delete(oldest);
    },
    recall: (callId) => kept.get(callId),
  };
}
