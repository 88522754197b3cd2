import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { RigRequest } from '../../core/ports.js';

/** Whose API a rig speaks. */
export type Provider = 'openai-compatible' | 'openai' | 'anthropic' | 'google';

/** Where a model is, and how to ask there. */
export interface Endpoint {
  readonly provider: Provider;
  readonly model: string;
  readonly baseUrl: string;
  /** Undefined: none is sent, which only `openai-compatible` allows. */
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Where the providers are when the configuration does not say. */
export const BASE_URLS: Record<Exclude<Provider, 'openai-compatible'>, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Room for a title. Where models think before they speak, their thoughts need room too. */
const TITLE_TOKENS: Record<Provider, number> = {
  'openai-compatible': 256,
  openai: 1024,
  anthropic: 2048,
  google: 2048,
};

/** Loads the provider's package, on first use, and makes its model. The packages read no environment: all is given. */
export async function openModel(endpoint: Endpoint): Promise<LanguageModelV3> {
  const { provider, model, baseUrl: baseURL, fetch } = endpoint;
  const apiKey = endpoint.apiKey ?? '';
  switch (provider) {
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const key = apiKey === '' ? {} : { apiKey };
      return createOpenAICompatible({ name: 'compatible', baseURL, fetch, includeUsage: true, ...key })(
        model,
      );
    }
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
  provider: Provider,
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
