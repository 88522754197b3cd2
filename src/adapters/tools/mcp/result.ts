import { isJsonObject, type JsonValue } from '../../../core/model/json.js';
import { bounded } from './failure.js';

/** In characters. Bounds the work before the toolbox truncates the result. */
const MAX_TEXT = 262_144;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts a tool's result to JSON: its structured content if present, otherwise its text. Other content is described
 * by type and size.
 * @param result without secrets: its texts are cut, and half a secret would not be found afterwards
 * @throws Error with the result's text when the tool reports an error
 */
export function toResult(result: JsonValue): JsonValue {
  const { structuredContent, content, isError } = isJsonObject(result) ? result : {};
  const blocks = Array.isArray(content) ? content.filter(isFields) : [];
  if (isError === true) {
    const words = shown(blocks);
    throw new Error(words === '' ? 'The tool failed and does not say why.' : bounded(words));
  }
  if (isJsonObject(structuredContent)) return structuredContent;
  return blocks.length === 0 ? null : shown(blocks);
}

function shown(blocks: readonly Fields[]): string {
  const texts: string[] = [];
  let length = 0;
  for (const block of blocks) {
    const text = showBlock(block);
    texts.push(text);
    length += text.length;
    if (length > MAX_TEXT) break;
  }
  return bounded(texts.join('\n'), MAX_TEXT);
}

function showBlock(block: Fields): string {
  const { type, text, data, resource } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? text : '';
    case 'image':
    case 'audio':
      return `[${type}${mime(block)}, ${sizeOf(data)}]`;
    case 'resource_link':
      return `[link ${[block.name, block.uri].filter(isText).join(': ')}${mime(block)}]`;
    case 'resource':
      return isFields(resource) ? showResource(resource) : '[resource]';
    default:
      return `[${typeof type === 'string' ? bounded(type, 40) : 'unknown'} content]`;
  }
}

function showResource(resource: Fields): string {
  const { uri, text, blob } = resource;
  const name = isText(uri) ? ` ${uri}` : '';
  return isText(text)
    ? `[resource${name}${mime(resource)}]\n${text}`
    : `[resource${name}${mime(resource)}, ${sizeOf(blob)}]`;
}

function mime({ mimeType }: Fields): string {
  return isText(mimeType) ? ` ${bounded(mimeType, 100)}` : '';
}

/** Describes the decoded size of base64 data. */
function sizeOf(data: unknown): string {
  return typeof data === 'string' ? `${String(Buffer.byteLength(data, 'base64'))} bytes` : 'no data';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
