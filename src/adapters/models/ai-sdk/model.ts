import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { RigRequest } from '../../../core/ports/rig.js';
import { TITLE_TOKENS, type Endpoint, type Provider } from '../endpoint.js';

/** The providers that are asked through a package of theirs. */
export type PackagedProvider = Exclude<Provider, 'openai-compatible'>;

/** Loads the provider's package, on first use, and makes its model. The packages read no environment: all is given. */
export async function openModel(provider: PackagedProvider, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { model, baseUrl: baseURL, fetch } = endpoint;
  const apiKey = endpoint.apiKey ?? '';
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ apiKey, baseURL, fetch }).responses(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, baseURL, fetch })(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ apiKey, baseURL, fetch })(model);
    }
  }
}

/** Settings of a call that differ between providers and purposes. */
export function callSettings(
  provider: PackagedProvider,
  purpose: RigRequest['purpose'],
): { maxOutputTokens?: number; providerOptions?: SharedV3ProviderOptions } {
  const title = purpose === 'title';
  return {
    ...(title ? { maxOutputTokens: TITLE_TOKENS[provider] } : {}),
    // Conversations are kept here, not at the provider; a title is not worth a long thought.
    ...(provider === 'openai'
      ? { providerOptions: { openai: { store: false, ...(title ? { reasoningEffort: 'low' } : {}) } } }
      : {}),
  };
}
