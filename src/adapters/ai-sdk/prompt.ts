import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';
import type { JsonObject } from '../../core/json.js';
import { resultText, type ToolCall, type ToolResult } from '../../core/message.js';
import type { PromptMessage, RigRequest, ToolDescription } from '../../core/ports.js';
import type { CallMemory } from './call-memory.js';
import { wireCallIds, wireToolNames, type WireNames } from './names.js';

/** What a provider gets of a request, and how to read names in its answer. */
export interface Prompt {
  readonly messages: LanguageModelV3Prompt;
  readonly tools: LanguageModelV3FunctionTool[];
  /** True when the tools are only those of the history: they must be declared, but not called. */
  readonly toolsAreHistory: boolean;
  readonly toolNames: WireNames;
  /** Ids of calls that the history holds. */
  readonly usedCallIds: ReadonlySet<string>;
}

const CUT_NOTE = '(The beginning of this conversation was left out.)';

/** Maps a request to the provider packages' prompt. For a title, tools and their calls are left out. */
export function buildPrompt(request: RigRequest, memory: CallMemory): Prompt {
  const withTools = request.purpose === 'answer';
  const calls = withTools ? request.messages.flatMap(callsOf) : [];
  const offered = withTools ? request.tools : [];
  const toolNames = wireToolNames([...offered.map(({ name }) => name), ...calls.map(({ name }) => name)]);
  const usedCallIds = new Set(calls.map(({ callId }) => callId));
  const callIds = wireCallIds(usedCallIds);
  const toolsAreHistory = offered.length === 0 && calls.length > 0;

  const messages: LanguageModelV3Message[] = [];
  if (request.instructions.trim() !== '') messages.push({ role: 'system', content: request.instructions });
  // Providers want a user's message first; a history that was cut may begin with an answer.
  if (request.messages[0]?.role === 'assistant') messages.push(userMessage(CUT_NOTE));
  for (const message of request.messages) {
    if (message.role === 'user') messages.push(userMessage(message.content));
    else messages.push(...assistantMessages(message, withTools, toolNames, callIds, memory));
  }
  const declared = toolsAreHistory ? formerTools(calls) : offered;
  const tools = declared.map((tool) => describeTool(tool, toolNames));
  return { messages, tools, toolsAreHistory, toolNames, usedCallIds };
}

type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>;

function callsOf(message: PromptMessage): readonly ToolCall[] {
  return message.role === 'assistant' ? message.toolCalls : [];
}

function userMessage(text: string): LanguageModelV3Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function* assistantMessages(
  message: AssistantMessage,
  withTools: boolean,
  toolNames: WireNames,
  callIds: WireNames,
  memory: CallMemory,
): Iterable<LanguageModelV3Message> {
  const { content, toolResults } = message;
  const toolCalls = withTools ? message.toolCalls : [];
  const text = content.trim() === '' ? [] : [{ type: 'text' as const, text: content }];
  const calls = toolCalls.map(({ callId, name, args }) => {
    const providerOptions = memory.recall(callId);
    return {
      type: 'tool-call' as const,
      toolCallId: callIds.toWire(callId),
      toolName: toolNames.toWire(name),
      input: args,
      ...(providerOptions === undefined ? {} : { providerOptions }),
    };
  });
  if (text.length + calls.length > 0) yield { role: 'assistant', content: [...text, ...calls] };
  if (calls.length === 0) return;
  const byId = new Map(toolResults.map((result) => [result.callId, result]));
  yield {
    role: 'tool',
    content: toolCalls.map(({ callId, name }): LanguageModelV3ToolResultPart => ({
      type: 'tool-result',
      toolCallId: callIds.toWire(callId),
      toolName: toolNames.toWire(name),
      output: outputOf(byId.get(callId)),
    })),
  };
}

function outputOf(result: ToolResult | undefined): LanguageModelV3ToolResultPart['output'] {
  if (result === undefined) return { type: 'error-text', value: 'no result' };
  return { type: result.failed ? 'error-text' : 'text', value: resultText(result.result) };
}

/** Some providers refuse a history with calls of tools that are not declared. */
function formerTools(calls: readonly ToolCall[]): ToolDescription[] {
  const names = new Set(calls.map(({ name }) => name));
  return [...names].map((name) => ({ name, description: 'No longer available.', parameters: {} }));
}

function describeTool(tool: ToolDescription, names: WireNames): LanguageModelV3FunctionTool {
  const schema: JsonObject = { properties: {}, ...tool.parameters, type: 'object' };
  if (!isObjectSchema(schema)) throw new TypeError('a schema of arguments describes an object');
  return {
    type: 'function',
    name: names.toWire(tool.name),
    description: tool.description,
    inputSchema: schema,
    strict: false,
  };
}

function isObjectSchema(
  schema: JsonObject,
): schema is JsonObject & LanguageModelV3FunctionTool['inputSchema'] {
  return schema.type === 'object';
}
