import { isJsonObject } from '../../../core/model/json.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import type { Reply } from './reply-shape.js';

const COMMAND = /^\/tool(?:\s+(?<name>\S+))?(?:\s+(?<json>[\s\S]+))?$/;

/** Parses `/tool NAME {json}`; undefined when the text is no such command. The arguments default to `{}`. */
export function readCommand(text: string, tools: readonly ToolDescription[]): Reply | undefined {
  const groups = COMMAND.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { name, json } = groups;
  const refuse = (words: string): Reply => ({
    text: `${words} Write: /tool NAME {"argument": "value"}`,
    calls: [],
  });

  if (name === undefined) return refuse(`Which tool? ${listTools(tools)}`);
  if (!tools.some((tool) => tool.name === name)) {
    return refuse(`There is no tool ${JSON.stringify(name)} here. ${listTools(tools)}`);
  }
  try {
    const args: unknown = JSON.parse(json ?? '{}');
    if (isJsonObject(args)) return { text: '', calls: [{ name, args }] };
    return refuse(`The arguments of ${name} must be a JSON object.`);
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it cannot be read';
    return refuse(`The arguments of ${name} are not valid JSON: ${why}.`);
  }
}

/** Lists the available tools in a sentence. */
export function listTools(tools: readonly ToolDescription[]): string {
  if (tools.length === 0) return 'No tools are offered here.';
  return `The tools offered here are: ${tools.map(({ name }) => name).join(', ')}.`;
}
