import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ReasoningEffort } from '../../../core/rigs/rig-options.js';
import type { RigRequest } from '../../../core/ports/rig.js';
import { optionsFor } from '../call-options.js';
import type { Endpoint, Provider } from '../endpoint.js';

/** The providers whose API is called through an AI SDK package. */
export type PackagedProvider = Exclude<Provider, 'openai-compatible'>;

/** Loads the provider's package and creates the model. All settings are explicit: no environment variable applies. */
export async function openModel(provider: PackagedProvider, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { model, baseUrl: baseURL, fetch, options } = endpoint;
  const apiKey = endpoint.apiKey ?? '';
  const settings = { apiKey, baseURL, fetch, headers: { ...options.headers } };
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI(settings).responses(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic(settings)(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI(settings)(model);
    }
  }
}

/** The call settings that depend on the rig and the purpose. */
export function callSettings(
  purpose: RigRequest['purpose'],
  endpoint: Endpoint,
): { maxOutputTokens?: number; temperature?: number; providerOptions?: SharedV3ProviderOptions } {
  const { maxOutputTokens, temperature, reasoning } = optionsFor(purpose, endpoint);
  const providerOptions = providerOptionsFor(endpoint.provider, reasoning);
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function providerOptionsFor(
  provider: Provider,
  reasoning: ReasoningEffort | undefined,
): SharedV3ProviderOptions | undefined {
  // The provider must not store conversations.
  if (provider === 'openai')
    return { openai: { store: false, ...(reasoning !== undefined && { reasoningEffort: reasoning }) } };
  if (reasoning === undefined) return undefined;
  if (provider === 'anthropic') return { anthropic: { effort: reasoning } };
  return { google: { thinkingConfig: { thinkingLevel: reasoning } } };
}
