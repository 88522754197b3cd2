import type { RigOptions } from '../../../core/rigs/rig-options.js';
import type { RigRequest } from '../../../core/ports/rig.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import type { WireNames } from '../wire-names.js';
import type { Outline } from '../request-outline.js';
import { sentSchema } from '../tool-schemas/sent-schema.js';
import type { Dialect } from './dialect.js';
import { wireMessages } from './messages.js';
import type { SentReasoning } from './sent-reasoning.js';

interface CompletionOptions extends Pick<RigOptions, 'maxOutputTokens' | 'temperature' | 'reasoning'> {
  readonly model: string;
  readonly dialect: Dialect;
}

/** Builds the JSON body of a request for a streamed chat completion. */
export function requestBody(
  { model, dialect, maxOutputTokens, temperature, reasoning }: CompletionOptions,
  instructions: RigRequest['instructions'],
  outline: Outline,
  sent: SentReasoning,
): string {
  const messages = wireMessages(instructions, outline, dialect, sent);
  const limit = field(dialect.limitField, maxOutputTokens);
  const options = `${limit}${field('temperature', temperature)}${field('reasoning_effort', reasoning)}`;
  const tools = outline.tools.length === 0 ? '' : `,"tools":${toolsJson(outline.tools, outline.toolNames)}`;
  const usage = dialect.hasUsageOption ? ',"stream_options":{"include_usage":true}' : '';
  const choice = outline.toolsAreHistory ? ',"tool_choice":"none"' : '';
  return `{"model":${JSON.stringify(model)}${options},"messages":${JSON.stringify(messages)}${tools}${choice},"stream":true${usage}}`;
}

/** Returns an optional field of the JSON body. */
function field(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
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
        parameters: sentSchema(tool.parameters, 'openai-compatible'),
        strict: false,
      },
    })),
  );
  jsonOfTools.set(tools, { names, json });
  return json;
}
