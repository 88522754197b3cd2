import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import type { ToolCall } from '../../core/model/message.js';
import type { RigPart } from '../../core/ports/rig.js';
import type { Usage } from '../../core/model/turn.js';
import type { Attached, SessionCalls } from './call-memory.js';
import { MAX_ARGUMENTS } from './http/limits.js';
import { ComplexJsonError, parseProviderJson } from './provider-json.js';
import { UpstreamFault } from './upstream-fault.js';
import type { Outline } from './request-outline.js';

/** Why a response ended. `other`: a reason that only this provider uses. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** A tool call in wire format. */
export interface WireCall {
  /** Empty if the provider sent none. */
  readonly id: string;
  readonly name: string;
  /** The arguments as unparsed text. */
  readonly input: string;
  readonly attached?: Attached;
}

/** A completed response. */
export interface FinishedAnswer {
  readonly reason: FinishReason;
  readonly usage: Usage;
  /** Whether the response contained text. */
  readonly spoke: boolean;
  readonly calls: readonly WireCall[];
}

/**
 * Yields the last parts of a response: all of its tool calls, then the end. A response that is no usable answer yields
 * its usage before it fails, because the provider bills it.
 * @param known receives what the provider attached to a call
 * @throws UpstreamFault
 */
export function* endParts(
  { reason, usage, spoke, calls }: FinishedAnswer,
  { usedCallIds, toolNames }: Outline,
  known: Pick<SessionCalls, 'remember'>,
): Iterable<RigPart> {
  const fault = faultOf(reason, spoke, calls);
  if (fault !== undefined) {
    yield { type: 'end', usage };
    throw fault;
  }
  const used = new Set(usedCallIds);
  for (const call of calls) {
    const callId = unusedId(call.id, used);
    used.add(callId);
    known.remember(callId, call.attached);
    yield {
      type: 'tool_call',
      call: { callId, name: toolNames.fromWire(call.name), ...readArgs(call.input, reason) },
    };
  }
  yield { type: 'end', usage };
}

function faultOf(
  reason: FinishReason,
  spoke: boolean,
  calls: readonly WireCall[],
): UpstreamFault | undefined {
  if (calls.reduce((sum, { input }) => sum + input.length, 0) > MAX_ARGUMENTS)
    return new UpstreamFault('unreadable', { code: 'endless_call' });
  switch (reason) {
    case 'content-filter':
      return new UpstreamFault('declined');
    case 'error':
      return new UpstreamFault('unreadable', { code: 'finish_error' });
    case 'length':
      return spoke || calls.length > 0 ? undefined : new UpstreamFault('length');
    case 'other':
    case 'stop':
    case 'tool-calls':
      return undefined;
  }
}

/**
 * Parses the arguments of a call. Models send nothing or `null` for a tool without parameters. Any other value that is
 * not an object fails this call only: the model receives the problem as the result and can call again.
 */
function readArgs(input: string, reason: FinishReason): Pick<ToolCall, 'args' | 'problem'> {
  if (input.trim() === '') return { args: {} };
  let args: unknown;
  try {
    args = parseProviderJson(input);
  } catch (error) {
    if (error instanceof ComplexJsonError) return unusable('had too many values or levels');
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

/** Makes a call id unique in the thread: some servers restart their numbering in each response. */
function unusedId(id: string, used: ReadonlySet<string>): string {
  let unused = id === '' ? 'call' : id;
  for (let n = 2; used.has(unused); n++) unused = `${id === '' ? 'call' : id}_${String(n)}`;
  return unused;
}
