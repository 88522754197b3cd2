import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { Rig } from '../../../core/ports/rig.js';
import { estimateTokens } from '../../../core/rigs/context-window.js';
import type { SessionCalls } from '../call-memory.js';
import { LINGER_MS } from '../http/limits.js';
import { ResponseIsComplete } from '../http/fetch.js';
import { isWebPage, requireKey, withKeyOf, type Endpoint } from '../endpoint.js';
import { UpstreamFault } from '../upstream-fault.js';
import { callSettings, openModel, type PackagedProvider } from './model.js';
import { outlineOf } from '../request-outline.js';
import { isLastEvent } from './last-event.js';
import { readParts } from './parts.js';
import { buildPrompt } from './prompt.js';
import { asRigError } from '../rig-error.js';

/** Caches the estimated tokens of each call's metadata, which all later requests of a turn contain. */
const estimates = new WeakMap<object, number>();

/** Creates the methods of a rig that calls its provider through an AI SDK package. */
export function createPackaged(
  provider: PackagedProvider,
  endpoint: Endpoint,
  callsOf: (sessionId: string | undefined) => SessionCalls,
): Pick<Rig, 'respond' | 'attachedTokens'> {
  let opened: Promise<LanguageModelV3> | undefined;

  const respond: Rig['respond'] = async (request, signal, take) => {
    signal.throwIfAborted();
    // Its own controller, so that an error while reading the stream also closes the upstream connection.
    const call = new AbortController();
    const abort = (): void => {
      call.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    let isOver = false;
    let lingering: NodeJS.Timeout | undefined;
    // Some proxies keep the connection of a complete response open.
    const onEvent = (event: unknown): void => {
      if (!isLastEvent(provider, event)) return;
      lingering ??= setTimeout(() => {
        call.abort(new ResponseIsComplete());
      }, LINGER_MS);
    };
    try {
      const used = withKeyOf(request, endpoint);
      requireKey(used);
      // A model with the key of a client is never kept.
      const model = await (used === endpoint
        ? (opened ??= openModel(provider, endpoint))
        : openModel(provider, used));
      const outline = outlineOf(request, endpoint.options);
      const known = callsOf(request.sessionId);
      const prompt = buildPrompt(request.instructions, outline, { provider, known });
      const { stream, response } = await model.doStream({
        prompt: prompt.messages,
        ...(prompt.tools.length === 0 ? {} : { tools: prompt.tools }),
        ...(outline.toolsAreHistory ? { toolChoice: { type: 'none' } } : {}),
        ...callSettings(request.purpose, endpoint),
        abortSignal: call.signal,
        includeRawChunks: true,
      });
      if (isWebPage(response?.headers?.['content-type'])) throw new UpstreamFault('endpoint');
      for await (const part of readParts(stream, { outline, known, onEvent })) {
        signal.throwIfAborted();
        isOver = part.type === 'end';
        take(part);
      }
    } catch (error) {
      signal.throwIfAborted();
      throw asRigError(error, { endpoint, request });
    } finally {
      signal.removeEventListener('abort', abort);
      clearTimeout(lingering);
      // A complete response has no connection to close, and creating the abort reason is expensive.
      if (!isOver) call.abort();
    }
  };
  return {
    respond,
    attachedTokens(sessionId, callId) {
      const metadata = callsOf(sessionId).recall(callId)?.metadata;
      if (metadata === undefined) return 0;
      const tokens = estimates.get(metadata) ?? estimateTokens(JSON.stringify(metadata));
      estimates.set(metadata, tokens);
      return tokens;
    },
  };
}
