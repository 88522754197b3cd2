import type { JsonObject } from '../../core/model/json.js';
import { resultText, type ToolCall } from '../../core/model/message.js';
import type { RigOptions } from '../../core/rigs/rig-options.js';
import type { PromptMessage, RigRequest } from '../../core/ports/rig.js';
import type { ToolDescription } from '../../core/ports/tool.js';
import { wireCallIds, wireToolNames, type WireNames } from './wire-names.js';

/**
 * The parts of a request that are sent to a provider, and the name mapping to read its response, in any wire format.
 */
export interface Outline {
  /** The first one is always a user message. */
  readonly messages: readonly PromptMessage[];
  /** False for a title and for a model without tools: the request then omits tools and tool calls. */
  readonly withTools: boolean;
  /** The tools that the request declares. */
  readonly tools: readonly ToolDescription[];
  /** True when `tools` are only those of past calls: they are declared, but the model must not call them. */
  readonly toolsAreHistory: boolean;
  readonly toolNames: WireNames;
  readonly callIds: WireNames;
  /** The ids of the calls in the history. */
  readonly usedCallIds: ReadonlySet<string>;
}

/** Providers require a user message first; a truncated history may begin with an assistant message. */
const CUT_NOTE: PromptMessage = {
  role: 'user',
  content: '(The beginning of this conversation was left out.)',
};

/**
 * Prepares a request for a provider.
 * @param options.tools false: the model gets neither tools nor the calls of the history
 */
export function outlineOf(request: RigRequest, { tools = true }: Pick<RigOptions, 'tools'> = {}): Outline {
  const withTools = request.purpose === 'answer' && tools;
  const calls = withTools ? request.messages.flatMap(callsOf) : [];
  const offered = withTools ? request.tools : [];
  const { usedCallIds, callIds } = idsOf(calls);
  const toolsAreHistory = offered.length === 0 && calls.length > 0;
  const messages = tools ? request.messages : [...request.messages, ...reportsOf(request.messages)];
  const isCut = messages[0]?.role === 'assistant';
  return {
    messages: isCut ? [CUT_NOTE, ...messages] : messages,
    withTools,
    tools: toolsAreHistory ? formerTools(calls) : offered,
    toolsAreHistory,
    toolNames: namesOf(offered, calls),
    callIds,
    usedCallIds,
  };
}

/**
 * Returns the results at the end of a history as a message, for a model without tools. Such a turn has no message of the
 * user: the service reports what has become of a wallet request.
 */
function reportsOf(messages: readonly PromptMessage[]): readonly PromptMessage[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || last.toolResults.length === 0) return [];
  const results = last.toolResults.map(({ result }) => resultText(result));
  return [{ role: 'user', content: `(The service reports: ${results.join('; ')})` }];
}

/** The schema of a tool's arguments in the form that providers accept. */
export function argumentsSchema({ parameters }: ToolDescription): JsonObject & { readonly type: 'object' } {
  return { properties: {}, ...parameters, type: 'object' };
}

function callsOf(message: PromptMessage): readonly ToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : [];
}

/** Caches name mappings by tool list: the list is the same object from turn to turn. */
const namesOfTools = new WeakMap<readonly ToolDescription[], WireNames>();

function namesOf(offered: readonly ToolDescription[], calls: readonly ToolCall[]): WireNames {
  const former = calls.map(({ name }) => name).filter((name) => !offered.some((tool) => tool.name === name));
  const known = former.length === 0 ? namesOfTools.get(offered) : undefined;
  if (known !== undefined) return known;
  const names = wireToolNames([...offered.map(({ name }) => name), ...former]);
  if (former.length === 0) namesOfTools.set(offered, names);
  return names;
}

/** Shared by all requests without calls, because an outline stays in memory while the response streams. */
const NO_CALLS = { usedCallIds: new Set<string>(), callIds: wireCallIds([]) };

function idsOf(calls: readonly ToolCall[]): Pick<Outline, 'usedCallIds' | 'callIds'> {
  if (calls.length === 0) return NO_CALLS;
  const usedCallIds = new Set(calls.map(({ callId }) => callId));
  return { usedCallIds, callIds: wireCallIds(usedCallIds) };
}

/** Declares the tools of past calls: some providers reject a history with calls of undeclared tools. */
function formerTools(calls: readonly ToolCall[]): ToolDescription[] {
  const names = new Set(calls.map(({ name }) => name));
  return [...names].map((name) => ({ name, description: 'No longer available.', parameters: {} }));
}
