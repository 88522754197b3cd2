import type { RigOptions } from '../../core/rigs/rig-options.js';
import type { Rig } from '../../core/ports/rig.js';
import { ModelHttpClient } from './http/client.js';
import { createFetch } from './http/fetch.js';
import { askModel } from './ask-model.js';
import { CallMemory } from './call-memory.js';
import { checkEndpoint } from './check-endpoint.js';
import { classify } from './classify.js';
import { createCompletions } from './openai-compatible/respond.js';
import { BASE_URLS, requireKey, type Endpoint, type Provider } from './endpoint.js';
import { prepareSchemas } from './tool-schemas/sent-schema.js';
import { NO_SECRETS } from './provider-words.js';
import { operatorError } from './upstream-fault.js';
import { createPackaged } from './ai-sdk/packaged.js';

/** The configuration of a rig. */
export interface RigSettings extends RigOptions {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
  /** The provider's name for the model. */
  readonly model: string;
  /** Without the path of an operation, such as `https://api.openai.com/v1`; null: the provider's default. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly contextTokens: number;
}

/**
 * Creates a rig for a model behind a provider's API. `respond` makes one model call; the core handles steps, tools and
 * retries.
 * @param memory shared by all rigs of the process
 * @throws Error when an `openai-compatible` rig has no `baseUrl`
 */
export function createModelRig(settings: RigSettings, memory = new CallMemory()): Rig {
  const { id, name, provider, contextTokens, maxOutputTokens } = settings;
  const client = new ModelHttpClient();
  const endpoint = endpointOf(settings, createFetch(client));
  const callsOf = (sessionId: string | undefined) => memory.ofSession(id, sessionId);
  const model =
    provider === 'openai-compatible'
      ? createCompletions(endpoint, client, callsOf)
      : createPackaged(provider, endpoint, callsOf);
  const respond: Rig['respond'] = async (request, signal, take) => {
    if (settings.tools !== false) await prepareSchemas(request.tools, provider, signal);
    await model.respond(request, signal, take);
  };
  return {
    id,
    name,
    provider,
    contextTokens,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    respond,
    attachedTokens: (sessionId, callId, isPast) => model.attachedTokens(sessionId, callId, isPast),
    async check(signal, { ask = false } = {}) {
      try {
        requireKey(endpoint);
      } catch (error) {
        throw operatorError(id, classify(error, NO_SECRETS).fault);
      }
      // A gateway may lack the list of models, so the request alone decides.
      if (!ask) return checkEndpoint(id, endpoint, signal);
      await askModel(id, { endpoint, respond }, signal);
      return undefined;
    },
  };
}

function endpointOf(settings: RigSettings, fetch: Endpoint['fetch']): Endpoint {
  const { id, provider, model, baseUrl, apiKey } = settings;
  const base = baseUrl ?? (provider === 'openai-compatible' ? null : BASE_URLS[provider]);
  if (base === null) throw new Error(`Rig "${id}": an openai-compatible rig needs a baseUrl`);
  const key = apiKey?.trim() ?? '';
  return {
    provider,
    model,
    baseUrl: base.replace(/\/+$/, ''),
    apiKey: key === '' ? undefined : key,
    options: settings,
    fetch,
  };
}
