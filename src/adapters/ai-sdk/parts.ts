import type {
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { RigPart } from '../../core/ports.js';
import type { Usage } from '../../core/turn.js';
import type { CallMemory } from './call-memory.js';
import { UpstreamFault } from './faults.js';
import type { Prompt } from './prompt.js';

/**
 * Reads a provider's stream. Text passes as it comes. Calls are held until the provider has said that its answer is
 * complete, so that a cut stream never runs half a call.
 * @throws UpstreamFault, or what the stream or an error part of it carries
 */
export async function* readParts(
  stream: AsyncIterable<LanguageModelV3StreamPart>,
  prompt: Prompt,
  memory: CallMemory,
): AsyncIterable<RigPart> {
  const calls: LanguageModelV3ToolCall[] = [];
  let finish: { reason: LanguageModelV3FinishReason; usage: LanguageModelV3Usage } | undefined;
  let spoke = false;
  for await (const part of stream) {
    if (part.type === 'text-delta') {
      if (part.delta === '') continue;
      spoke = true;
      yield { type: 'text', text: part.delta };
    } else if (part.type === 'tool-call' && part.providerExecuted !== true) {
      calls.push(part);
    } else if (part.type === 'error') {
      throw part.error;
    } else if (part.type === 'finish') {
      finish = { reason: part.finishReason, usage: part.usage };
    }
  }
  if (finish === undefined) throw new UpstreamFault('cut');
  checkFinish(finish.reason, spoke, calls.length);
  yield* readCalls(calls, finish.reason, prompt, memory);
  yield { type: 'end', usage: usageOf(finish.usage) };
}

function checkFinish(reason: LanguageModelV3FinishReason, spoke: boolean, calls: number): void {
  switch (reason.unified) {
    case 'content-filter':
      throw new UpstreamFault('declined');
    case 'error':
      throw new UpstreamFault('unreadable', { code: 'finish_error' });
    case 'length':
      if (!spoke && calls === 0) throw new UpstreamFault('length');
      return;
    case 'other':
      // Without a word of the provider's own, its stream closed before it said that it was done.
      if (reason.raw === undefined) throw new UpstreamFault('cut');
      return;
    case 'stop':
    case 'tool-calls':
      return;
  }
}

function* readCalls(
  calls: readonly LanguageModelV3ToolCall[],
  reason: LanguageModelV3FinishReason,
  prompt: Prompt,
  memory: CallMemory,
): Iterable<RigPart> {
  const used = new Set(prompt.usedCallIds);
  // All are read before the first is passed on: a step with a call that cannot be understood runs none.
  const readable = calls.map((call) => ({ call, args: readArgs(call.input, reason) }));
  for (const { call, args } of readable) {
    const callId = unusedId(call.toolCallId, used);
    used.add(callId);
    if (call.providerMetadata !== undefined) memory.remember(callId, call.providerMetadata);
    yield { type: 'tool_call', call: { callId, name: prompt.toolNames.fromWire(call.toolName), args } };
  }
}

/** Models leave the arguments of a tool without any empty, or say `null`. Anything else that is no object is an error. */
function readArgs(input: string, reason: LanguageModelV3FinishReason): JsonObject {
  if (input.trim() === '') return {};
  let args: unknown;
  try {
    args = JSON.parse(input);
  } catch (error) {
    // The SyntaxError quotes the arguments, which are the user's: only its kind is kept.
    throw new UpstreamFault(reason.unified === 'length' ? 'length' : 'call', { code: nameOf(error) });
  }
  if (args === null) return {};
  if (!isJsonObject(args)) throw new UpstreamFault('call');
  return args;
}

/** Some servers count their calls anew in each answer; within a thread an id must name one call. */
function unusedId(id: string, used: ReadonlySet<string>): string {
  let unused = id === '' ? 'call' : id;
  for (let n = 2; used.has(unused); n++) unused = `${id === '' ? 'call' : id}_${String(n)}`;
  return unused;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'SyntaxError';
}

function usageOf(usage: LanguageModelV3Usage): Usage {
  return { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };
}
