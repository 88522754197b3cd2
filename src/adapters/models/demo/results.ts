import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import { resultText, type ToolResult } from '../../../core/model/message.js';
import { listedRequests } from './wallet-verdicts.js';

const MAX_SHOWN = 2_000;
/** The fields in which tools return text for people. */
const SPOKEN_KEYS = ['text', 'summary', 'message'];

/** Describes the results of tool calls in sentences. */
export function describeResults({ toolResults }: { readonly toolResults: readonly ToolResult[] }): string {
  return toolResults.map(describeResult).join('\n');
}

function describeResult({ name, result, failed }: ToolResult): string {
  if (failed) return ended(`The tool ${name} failed: ${shortened(resultText(result))}`);
  if (!isJsonObject(result)) return ended(`The tool ${name} answered: ${shortened(inWords(result))}`);
  if (name === 'get_time' && typeof result.text === 'string') return ended(`It is ${result.text}`);
  if (name === 'calculate' && result.expression !== undefined && result.result !== undefined) {
    return ended(`${inWords(result.expression)} = ${inWords(result.result)}`);
  }
  const listed = name === 'list_wallet_requests' ? listedRequests(result) : undefined;
  if (listed !== undefined) return listed;
  const spoken = SPOKEN_KEYS.map((key) => result[key]).find((value) => typeof value === 'string');
  return ended(spoken ?? `The tool ${name} answered: ${shortened(fieldsInWords(result))}`);
}

function fieldsInWords(result: JsonObject): string {
  const fields = Object.entries(result).map(
    ([key, value]) => `${key.replaceAll('_', ' ')} ${inWords(value)}`,
  );
  return fields.length === 0 ? 'nothing' : fields.join(', ');
}

function inWords(value: JsonValue): string {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return resultText(value);
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
