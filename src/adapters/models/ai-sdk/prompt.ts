import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';
import { resultText, type ToolResult } from '../../../core/model/message.js';
import type { PromptMessage } from '../../../core/ports/rig.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import type { SessionCalls } from '../call-memory.js';
import type { Provider } from '../endpoint.js';
import type { WireNames } from '../wire-names.js';
import type { Outline } from '../request-outline.js';
import { sentSchema } from '../tool-schemas/sent-schema.js';

export interface Prompt {
  readonly messages: LanguageModelV3Prompt;
  readonly tools: LanguageModelV3FunctionTool[];
}

/** Converts a request to the prompt format of the provider packages. */
export function buildPrompt(
  instructions: string,
  outline: Outline,
  { provider, known }: { readonly provider: Provider; readonly known: SessionCalls },
): Prompt {
  const messages: LanguageModelV3Message[] = [];
  if (instructions.trim() !== '') messages.push({ role: 'system', content: instructions });
  for (const message of outline.messages) {
    if (message.role === 'user')
      messages.push({ role: 'user', content: [{ type: 'text', text: message.content }] });
    else messages.push(...assistantMessages(message, outline, known));
  }
  return { messages, tools: outline.tools.map((tool) => describeTool(tool, outline.toolNames, provider)) };
}

type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>;

function* assistantMessages(
  message: AssistantMessage,
  { withTools, toolNames, callIds }: Outline,
  known: SessionCalls,
): Iterable<LanguageModelV3Message> {
  const { content, toolResults } = message;
  const toolCalls = withTools ? message.toolCalls : [];
  const text = content.trim() === '' ? [] : [{ type: 'text' as const, text: content }];
  const calls = toolCalls.map(({ callId, name, args }) => {
    const providerOptions = known.recall(callId)?.metadata;
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
  const isFailed = result?.failed !== false;
  return { type: isFailed ? 'error-text' : 'text', value: outputText(result) };
}

/** The text of a tool result as the model receives it. */
export function outputText(result: ToolResult | undefined): string {
  return result === undefined ? 'no result' : resultText(result.result);
}

function describeTool(
  tool: ToolDescription,
  names: WireNames,
  provider: Provider,
): LanguageModelV3FunctionTool {
  return {
    type: 'function',
    name: names.toWire(tool.name),
    description: tool.description,
    inputSchema: sentSchema(tool.parameters, provider),
    // Only the API of OpenAI is strict by default. Gateways to Bedrock and Vertex AI refuse this field.
    ...(provider !== 'anthropic' && { strict: false }),
  };
}
