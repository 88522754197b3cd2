import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { RigRequest } from '../../../core/ports/rig.js';
import { TITLE_TOKENS, type Endpoint, type Provider } from '../endpoint.js';

/** The providers whose API is called through an AI SDK package. */
export type PackagedProvider = Exclude<Provider, 'openai-compatible'>;

/** Loads the provider's package and creates the model. All settings are explicit: no environment variable applies. */
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

/** The call settings that depend on the provider and the purpose. */
export function callSettings(
  provider: PackagedProvider,
  purpose: RigRequest['purpose'],
): { maxOutputTokens?: number; providerOptions?: SharedV3ProviderOptions } {
  const title = purpose === 'title';
  return {
    ...(title ? { maxOutputTokens: TITLE_TOKENS[provider] } : {}),
    // The provider must not store conversations; a title needs little reasoning.
    ...(provider === 'openai'
      ? { providerOptions: { openai: { store: false, ...(title ? { reasoningEffort: 'low' } : {}) } } }
      : {}),
  };
}
