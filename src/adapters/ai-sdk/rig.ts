import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Rig, RigPart, RigRequest } from '../../core/ports.js';
import { createCallMemory } from './call-memory.js';
import { checkEndpoint } from './check.js';
import { classify } from './classify.js';
import { operatorError, rigError, UpstreamFault } from './faults.js';
import { createFetch, DEFAULT_TIMES } from './fetch.js';
import { BASE_URLS, callSettings, openModel, type Endpoint, type Provider } from './model.js';
import { PartQueue } from './part-queue.js';
import { readParts } from './parts.js';
import { PlainText } from './plain-text.js';
import { buildPrompt } from './prompt.js';
import { retryAfter } from './retry-after.js';

/** A rig as the configuration describes it. */
export interface RigSettings {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
  /** The provider's own name for the model. */
  readonly model: string;
  /** Without a path of a method, such as `https://api.openai.com/v1`; null: the provider's own. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly contextTokens: number;
}

/**
 * A model behind a provider's API. `respond` is one model call: steps, tools and retries are the core's.
 * @throws Error when an `openai-compatible` rig has no `baseUrl`
 */
export function createAiSdkRig(settings: RigSettings): Rig {
  const { id, name, provider, contextTokens } = settings;
  /** Of calls that are under way: the signal is what a call and its request have in common. */
  const plainTexts = new WeakMap<AbortSignal, PlainText>();
  const endpoint = endpointOf(settings, (callSignal) => plainTexts.get(callSignal));
  const memory = createCallMemory();
  let opened: Promise<LanguageModelV3> | undefined;

  async function* respond(request: RigRequest, signal: AbortSignal): AsyncIterable<RigPart> {
    signal.throwIfAborted();
    // One's own controller, so that a consumer who just stops closes the upstream connection too.
    const call = new AbortController();
    const abort = (): void => {
      call.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    let isOver = false;
    const parts = new PartQueue<LanguageModelV3StreamPart>();
    if (provider === 'openai-compatible') {
      const pass = (delta: string) => {
        parts.push({ type: 'text-delta', id: 'plain', delta });
      };
      plainTexts.set(call.signal, new PlainText(pass));
    }
    try {
      requireKey(endpoint);
      opened ??= openModel(endpoint);
      const model = await opened;
      const prompt = buildPrompt(request, memory);
      const { stream, response } = await model.doStream({
        prompt: prompt.messages,
        ...(prompt.tools.length === 0 ? {} : { tools: prompt.tools }),
        ...(prompt.toolsAreHistory ? { toolChoice: { type: 'none' } } : {}),
        ...callSettings(provider, request.purpose),
        abortSignal: call.signal,
      });
      requireEvents(response?.headers);
      void parts.follow(stream);
      for await (const part of readParts(parts, prompt, memory)) {
        signal.throwIfAborted();
        isOver = part.type === 'end';
        yield part;
        signal.throwIfAborted();
      }
    } catch (error) {
      signal.throwIfAborted();
      const { fault, answer } = classify(error);
      throw rigError(fault, answer && retryAfter(answer, Date.now()));
    } finally {
      signal.removeEventListener('abort', abort);
      // An answer that is over has no connection to close, and the reason of an abort is an error with its stack.
      if (!isOver) call.abort();
    }
  }

  return {
    id,
    name,
    provider,
    contextTokens,
    respond,
    async check(signal) {
      try {
        requireKey(endpoint);
      } catch (error) {
        throw operatorError(id, classify(error).fault);
      }
      await checkEndpoint(id, endpoint, signal);
    },
  };
}

function endpointOf(
  { id, provider, model, baseUrl, apiKey }: RigSettings,
  plainTextOf: (signal: AbortSignal) => PlainText | undefined,
): Endpoint {
  const base = baseUrl ?? (provider === 'openai-compatible' ? null : BASE_URLS[provider]);
  if (base === null) throw new Error(`Rig "${id}": an openai-compatible rig needs a baseUrl`);
  const key = apiKey?.trim() ?? '';
  return {
    provider,
    model,
    baseUrl: base.replace(/\/+$/, ''),
    apiKey: key === '' ? undefined : key,
    fetch: createFetch(DEFAULT_TIMES, plainTextOf),
  };
}

/** A key that no header can carry is refused here: what others throw then quotes it. */
function requireKey({ provider, apiKey }: Endpoint): void {
  const missing = apiKey === undefined && provider !== 'openai-compatible';
  if (missing || (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))) {
    throw new UpstreamFault('credentials', { code: missing ? 'no_key' : 'malformed_key' });
  }
}

/** A web page instead of a stream: the address is not that of a model API. */
function requireEvents(headers: Record<string, string> | undefined): void {
  if (headers?.['content-type']?.startsWith('text/html') === true) throw new UpstreamFault('endpoint');
}
