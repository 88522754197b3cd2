import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { RigPart } from '../../core/ports.js';
import type { Usage } from '../../core/turn.js';
import { UpstreamFault } from './faults.js';
import type { Outline } from './outline.js';

/** Why an answer ended. `other`: for a reason of the provider's own. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** A call as the provider made it. */
export interface WireCall {
  /** Empty: it has none. */
  readonly id: string;
  readonly name: string;
  /** The text of its arguments. */
  readonly input: string;
  readonly metadata?: SharedV3ProviderMetadata | undefined;
}

/** An answer that the provider has completed. */
export interface FinishedAnswer {
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** Whether there was text. */
  readonly spoke: boolean;
  readonly calls: readonly WireCall[];
}

/**
 * The last parts of an answer: its calls, all or none, and the end.
 * @param remember gets what the provider said of a call beside its name and arguments
 * @throws UpstreamFault
 */
export function* endParts(
  { reason, usage, spoke, calls }: FinishedAnswer,
  { usedCallIds, toolNames }: Outline,
  remember: (callId: string, metadata: SharedV3ProviderMetadata) => void = () => undefined,
): Iterable<RigPart> {
  checkFinish(reason, spoke, calls.length);
  const used = new Set(usedCallIds);
  // All are read before the first is passed on: a step with a call that cannot be understood runs none.
  const readable = calls.map((call) => ({ call, args: readArgs(call.input, reason) }));
  for (const { call, args } of readable) {
    const callId = unusedId(call.id, used);
    used.add(callId);
    if (call.metadata !== undefined) remember(callId, call.metadata);
    yield { type: 'tool_call', call: { callId, name: toolNames.fromWire(call.name), args } };
  }
  yield { type: 'end', usage };
}

function checkFinish(reason: FinishReason, spoke: boolean, calls: number): void {
  switch (reason) {
    case 'content-filter':
      throw new UpstreamFault('declined');
    case 'error':
      throw new UpstreamFault('unreadable', { code: 'finish_error' });
    case 'length':
      if (!spoke && calls === 0) throw new UpstreamFault('length');
      return;
    case 'other':
    case 'stop':
    case 'tool-calls':
      return;
  }
}

/** Models leave the arguments of a tool without any empty, or say `null`. Anything else that is no object is an error. */
function readArgs(input: string, reason: FinishReason): JsonObject {
  if (input.trim() === '') return {};
  let args: unknown;
  try {
    args = JSON.parse(input);
  } catch (error) {
    // The SyntaxError quotes the arguments, which are the user's: only its kind is kept.
    throw new UpstreamFault(reason === 'length' ? 'length' : 'call', { code: nameOf(error) });
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
