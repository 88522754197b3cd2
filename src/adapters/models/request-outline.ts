import type { JsonObject } from '../../core/model/json.js';
import type { ToolCall } from '../../core/model/message.js';
import type { PromptMessage, RigRequest } from '../../core/ports/rig.js';
import type { ToolDescription } from '../../core/ports/tool.js';
import { wireCallIds, wireToolNames, type WireNames } from './wire-names.js';

/** What of a request goes to a provider, and how to read names in its answer, whatever the wire format. */
export interface Outline {
  /** The first one is the user's. */
  readonly messages: readonly PromptMessage[];
  /** False for a title: then tools and their calls are left out. */
  readonly withTools: boolean;
  /** What is declared. */
  readonly tools: readonly ToolDescription[];
  /** True when the tools are only those of the history: they must be declared, but not called. */
  readonly toolsAreHistory: boolean;
  readonly toolNames: WireNames;
  readonly callIds: WireNames;
  /** Ids of calls that the history holds. */
  readonly usedCallIds: ReadonlySet<string>;
}

/** Providers want a user's message first; a history that was cut may begin with an answer. */
const CUT_NOTE: PromptMessage = {
  role: 'user',
  content: '(The beginning of this conversation was left out.)',
};

/** For a title, tools and their calls are left out. */
export function outlineOf(request: RigRequest): Outline {
  const withTools = request.purpose === 'answer';
  const calls = withTools ? request.messages.flatMap(callsOf) : [];
  const offered = withTools ? request.tools : [];
  const { usedCallIds, callIds } = idsOf(calls);
  const toolsAreHistory = offered.length === 0 && calls.length > 0;
  const isCut = request.messages[0]?.role === 'assistant';
  return {
    messages: isCut ? [CUT_NOTE, ...request.messages] : request.messages,
    withTools,
    tools: toolsAreHistory ? formerTools(calls) : offered,
    toolsAreHistory,
    toolNames: namesOf(offered, calls),
    callIds,
    usedCallIds,
  };
}

/** The schema of a tool's arguments as providers take it. */
export function argumentsSchema({ parameters }: ToolDescription): JsonObject & { readonly type: 'object' } {
  return { properties: {}, ...parameters, type: 'object' };
}

function callsOf(message: PromptMessage): readonly ToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : [];
}

/** The names of lists of tools, which are the same from turn to turn. */
const namesOfTools = new WeakMap<readonly ToolDescription[], WireNames>();

function namesOf(offered: readonly ToolDescription[], calls: readonly ToolCall[]): WireNames {
  const former = calls.map(({ name }) => name).filter((name) => !offered.some((tool) => tool.name === name));
  const known = former.length === 0 ? namesOfTools.get(offered) : undefined;
  if (known !== undefined) return known;
  const names = wireToolNames([...offered.map(({ name }) => name), ...former]);
  if (former.length === 0) namesOfTools.set(offered, names);
  return names;
}

/** Most histories have no calls; what is held for an answer is held while it streams. */
const NO_CALLS = { usedCallIds: new Set<string>(), callIds: wireCallIds([]) };

function idsOf(calls: readonly ToolCall[]): Pick<Outline, 'usedCallIds' | 'callIds'> {
  if (calls.length === 0) return NO_CALLS;
  const usedCallIds = new Set(calls.map(({ callId }) => callId));
  return { usedCallIds, callIds: wireCallIds(usedCallIds) };
}

/** Some providers refuse a history with calls of tools that are not declared. */
function formerTools(calls: readonly ToolCall[]): ToolDescription[] {
  const names = new Set(calls.map(({ name }) => name));
  return [...names].map((name) => ({ name, description: 'No longer available.', parameters: {} }));
}
