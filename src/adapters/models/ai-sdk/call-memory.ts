import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';

/** What a provider said of a call beside its name and arguments, to be sent back with the call. */
export interface CallMemory {
  remember(callId: string, metadata: SharedV3ProviderMetadata): void;
  recall(callId: string): SharedV3ProviderMetadata | undefined;
}

/**
 * Keeps the metadata of the last calls. Gemini signs its calls and wants the signature back within the same turn; a
 * turn that goes on in another process does without.
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
