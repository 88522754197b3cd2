import type { RigOptions } from '../../../core/rigs/rig-options.js';
import type { PromptMessage, RigRequest } from '../../../core/ports/rig.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import type { WireNames } from '../wire-names.js';
import { argumentsSchema, type Outline } from '../request-outline.js';
import { outputText } from '../ai-sdk/prompt.js';

interface CompletionOptions extends Pick<RigOptions, 'maxOutputTokens' | 'temperature' | 'reasoning'> {
  readonly model: string;
}

/** Builds the JSON body of a request for a streamed chat completion. */
export function requestBody(
  { model, maxOutputTokens, temperature, reasoning }: CompletionOptions,
  instructions: RigRequest['instructions'],
  outline: Outline,
): string {
  const messages: WireMessage[] = [];
  if (instructions.trim() !== '') messages.push({ role: 'system', content: instructions });
  for (const message of outline.messages) {
    if (message.role === 'user') messages.push({ role: 'user', content: message.content });
    else addAssistant(messages, message, outline);
  }
  const limit = field('max_tokens', maxOutputTokens);
  const options = `${limit}${field('temperature', temperature)}${field('reasoning_effort', reasoning)}`;
  const tools = outline.tools.length === 0 ? '' : `,"tools":${toolsJson(outline.tools, outline.toolNames)}`;
  const choice = outline.toolsAreHistory ? ',"tool_choice":"none"' : '';
  return `{"model":${JSON.stringify(model)}${options},"messages":${JSON.stringify(messages)}${tools}${choice},"stream":true,"stream_options":{"include_usage":true}}`;
}

/** Returns an optional field of the JSON body. */
function field(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
}

type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly object[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

function addAssistant(
  messages: WireMessage[],
  message: Extract<PromptMessage, { role: 'assistant' }>,
  { withTools, toolNames, callIds }: Outline,
): void {
  const calls = withTools ? message.toolCalls : [];
  const content = message.content.trim() === '' ? '' : message.content;
  if (calls.length === 0) {
    if (content !== '') messages.push({ role: 'assistant', content });
    return;
  }
  messages.push({
    role: 'assistant',
    content: content === '' ? null : content,
    tool_calls: calls.map(({ callId, name, args }) => ({
      id: callIds.toWire(callId),
      type: 'function',
      function: { name: toolNames.toWire(name), arguments: JSON.stringify(args) },
    })),
  });
  for (const { callId } of calls) {
    const result = message.toolResults.find((candidate) => candidate.callId === callId);
    messages.push({ role: 'tool', tool_call_id: callIds.toWire(callId), content: outputText(result) });
  }
}

/** Caches the JSON of tool lists: the list is the same object from turn to turn, and longer than most conversations. */
const jsonOfTools = new WeakMap<
  readonly ToolDescription[],
  { readonly names: WireNames; readonly json: string }
>();

function toolsJson(tools: readonly ToolDescription[], names: WireNames): string {
  const known = jsonOfTools.get(tools);
  if (known?.names === names) return known.json;
  const json = JSON.stringify(
    tools.map((tool) => ({
      type: 'function',
      function: {
        name: names.toWire(tool.name),
        description: tool.description,
        parameters: argumentsSchema(tool),
        strict: false,
      },
    })),
  );
  jsonOfTools.set(tools, { names, json });
  return json;
}
