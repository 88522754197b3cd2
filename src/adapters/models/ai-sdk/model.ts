import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ReasoningEffort } from '../../../core/rigs/rig-options.js';
import type { RigRequest } from '../../../core/ports/rig.js';
import { optionsFor } from '../call-options.js';
import { BASE_URLS, type Endpoint, type Provider } from '../endpoint.js';

/** The providers whose API is called through an AI SDK package. */
export type PackagedProvider = Exclude<Provider, 'openai-compatible'>;

/** The package sends this flag with every request that has tools. It concerns `strict` tools, which no request has. */
const UNUSED_BETA = 'structured-outputs-2025-11-13';

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
      return createAnthropic({ ...settings, fetch: withoutUnusedBeta(fetch) })(model);
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
  const providerOptions = providerOptionsFor(endpoint, reasoning);
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function providerOptionsFor(
  { provider, baseUrl }: Endpoint,
  reasoning: ReasoningEffort | undefined,
): SharedV3ProviderOptions | undefined {
  const effort = reasoning !== undefined && { effort: reasoning };
  // The provider must not store conversations.
  if (provider === 'openai')
    return { openai: { store: false, ...(reasoning !== undefined && { reasoningEffort: reasoning }) } };
  // Anthropic sends nothing while it buffers the arguments of a call, and gateways refuse the field that prevents this.
  if (provider === 'anthropic')
    return { anthropic: { ...effort, toolStreaming: baseUrl === BASE_URLS.anthropic } };
  return reasoning === undefined ? undefined : { google: { thinkingConfig: { thinkingLevel: reasoning } } };
}

/** Removes a beta flag that gateways to Bedrock and Vertex AI refuse. */
function withoutUnusedBeta(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    const flags = headers.get('anthropic-beta')?.split(',') ?? [];
    const used = flags.filter((flag) => flag.trim() !== UNUSED_BETA).join(',');
    if (used === '') headers.delete('anthropic-beta');
    else headers.set('anthropic-beta', used);
    return fetch(input, { ...init, headers });
  };
}
