import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { Rig, RigPart, RigRequest } from '../../core/ports.js';
import { createCallMemory } from './call-memory.js';
import { isWebPage, requireKey, type Endpoint } from './endpoint.js';
import { UpstreamFault } from './faults.js';
import { callSettings, openModel, type PackagedProvider } from './model.js';
import { outlineOf } from './outline.js';
import { PartQueue } from './part-queue.js';
import { readParts } from './parts.js';
import { buildPrompt } from './prompt.js';
import { asRigError } from './rig-error.js';

/** Asks a provider through its package. */
export function createPackaged(provider: PackagedProvider, endpoint: Endpoint): Rig['respond'] {
  const memory = createCallMemory();
  let opened: Promise<LanguageModelV3> | undefined;

  return async function* respond(request: RigRequest, signal: AbortSignal): AsyncIterable<RigPart> {
    signal.throwIfAborted();
    // One's own controller, so that a consumer who just stops closes the upstream connection too.
    const call = new AbortController();
    const abort = (): void => {
      call.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    let isOver = false;
    try {
      requireKey(endpoint);
      opened ??= openModel(provider, endpoint);
      const model = await opened;
      const outline = outlineOf(request);
      const prompt = buildPrompt(request.instructions, outline, memory);
      const { stream, response } = await model.doStream({
        prompt: prompt.messages,
        ...(prompt.tools.length === 0 ? {} : { tools: prompt.tools }),
        ...(outline.toolsAreHistory ? { toolChoice: { type: 'none' } } : {}),
        ...callSettings(provider, request.purpose),
        abortSignal: call.signal,
      });
      if (isWebPage(response?.headers?.['content-type'])) throw new UpstreamFault('endpoint');
      const parts = new PartQueue<LanguageModelV3StreamPart>();
      void parts.follow(stream);
      for await (const part of readParts(parts, outline, memory)) {
        signal.throwIfAborted();
        isOver = part.type === 'end';
        yield part;
        signal.throwIfAborted();
      }
    } catch (error) {
      signal.throwIfAborted();
      throw asRigError(error);
    } finally {
      signal.removeEventListener('abort', abort);
      // An answer that is over has no connection to close, and the reason of an abort is an error with its stack.
      if (!isOver) call.abort();
    }
  };
}
