import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import type { RigPart } from '../../../core/ports/rig.js';
import type { Usage } from '../../../core/model/turn.js';
import type { SessionCalls } from '../call-memory.js';
import { endParts, type WireCall } from '../ending.js';
import { UpstreamFault } from '../upstream-fault.js';
import type { Outline } from '../request-outline.js';

interface Reading {
  readonly outline: Outline;
  readonly known: SessionCalls;
  /** Receives the JSON of each event of the provider. */
  readonly onEvent: (event: unknown) => void;
}

/**
 * Reads a provider package's stream. Passes text on immediately and holds tool calls until the response is complete, so
 * that a truncated stream never runs a partial call.
 * @throws UpstreamFault, or the error of the stream or of one of its error parts
 */
export async function* readParts(
  stream: AsyncIterable<LanguageModelV3StreamPart>,
  { outline, known, onEvent }: Reading,
): AsyncIterable<RigPart> {
  const calls: WireCall[] = [];
  let finish: { reason: LanguageModelV3FinishReason; usage: LanguageModelV3Usage } | undefined;
  let spoke = false;
  for await (const part of stream) {
    if (part.type === 'text-delta') {
      if (part.delta === '') continue;
      spoke = true;
      yield { type: 'text', text: part.delta };
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
      calls.push({
        id: part.toolCallId,
        name: part.toolName,
        input: part.input,
        ...(part.providerMetadata !== undefined && { attached: { metadata: part.providerMetadata } }),
      });
    } else if (part.type === 'raw') {
      onEvent(part.rawValue);
    } else if (part.type === 'error') {
      throw part.error;
    } else if (part.type === 'finish') {
      finish = { reason: part.finishReason, usage: part.usage };
    }
  }
  // Without a raw finish reason from the provider, the stream was closed early.
  if (finish === undefined || (finish.reason.unified === 'other' && finish.reason.raw === undefined)) {
    throw new UpstreamFault('cut');
  }
  const answer = { reason: finish.reason.unified, usage: usageOf(finish.usage), spoke, calls };
  yield* endParts(answer, outline, known);
}

function usageOf(usage: LanguageModelV3Usage): Usage {
  return { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };
}
