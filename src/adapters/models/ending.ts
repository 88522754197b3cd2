import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import type { ToolCall } from '../../core/model/message.js';
import type { RigPart } from '../../core/ports/rig.js';
import type { Usage } from '../../core/model/turn.js';
import { UpstreamFault } from './upstream-fault.js';
import type { Outline } from './request-outline.js';

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
  for (const call of calls) {
    const callId = unusedId(call.id, used);
    used.add(callId);
    if (call.metadata !== undefined) remember(callId, call.metadata);
    yield {
      type: 'tool_call',
      call: { callId, name: toolNames.fromWire(call.name), ...readArgs(call.input, reason) },
    };
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

/**
 * The arguments of a call. Models leave the arguments of a tool without parameters empty, or write `null`. Anything
 * else that is no object is a problem of this call alone: the model reads the words and can call again.
 */
function readArgs(input: string, reason: FinishReason): Pick<ToolCall, 'args' | 'problem'> {
  if (input.trim() === '') return { args: {} };
  let args: unknown;
  try {
    args = JSON.parse(input);
  } catch {
    return unusable(reason === 'length' ? 'were cut off at your output limit' : 'were not valid JSON');
  }
  if (args === null) return { args: {} };
  if (isJsonObject(args)) return { args };
  return unusable(`were ${Array.isArray(args) ? 'a JSON array' : `a JSON ${typeof args}`}`);
}

function unusable(what: string): { readonly args: JsonObject; readonly problem: string } {
  const problem = `The call was not run: its arguments ${what}, and must be one JSON object. Call the tool again with a JSON object.`;
  return { args: {}, problem };
}

/** Some servers count their calls anew in each answer; within a thread an id must name one call. */
function unusedId(id: string, used: ReadonlySet<string>): string {
  let unused = id === '' ? 'call' : id;
  for (let n = 2; used.has(unused); n++) unused = `${id === '' ? 'call' : id}_${String(n)}`;
  return unused;
}
