import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import type { ToolDescription } from '../../../core/ports/tool.js';
import { addressIn, blockIn, chainIn, coinsIn, ensNameIn, hashIn } from './chain-words.js';
import { expressionsIn } from './expressions.js';
import { zonesIn } from './zones.js';

/** The arguments that a message contains for a tool, one object per call, or the required ones that are missing. */
export type Filled =
  | { readonly kind: 'filled'; readonly calls: readonly JsonObject[] }
  | { readonly kind: 'missing'; readonly names: readonly string[] };

const MAX_CALLS = 8;

/**
 * Extracts a tool's arguments from plain language: from `name=value`, from the meaning of parameter names (timezone,
 * address, symbol …), or, for required parameters, from the next number or quotation, or the last words. Several values
 * for one scalar parameter make several calls.
 */
export function fillArguments(tool: ToolDescription, text: string): Filled {
  const { properties, required } = tool.parameters;
  const parameters = isJsonObject(properties) ? Object.entries(properties) : [];
  const needed = new Set(listOf(required));
  const nextLoose = looseValues(tool, text);

  let calls: JsonObject[] = [{}];
  const missing: string[] = [];
  for (const [name, definition] of parameters) {
    const schema = isJsonObject(definition) ? definition : {};
    const clear = namedValue(name, schema, text) ?? meantValues(name, schema, text);
    const values = clear.length === 0 && needed.has(name) ? nextLoose(schema) : clear;
    if (values.length === 0 && needed.has(name)) missing.push(name);
    if (values.length > 0) {
      const choices = schema.type === 'array' ? [values] : values;
      calls = calls.flatMap((call) => choices.map((value) => ({ ...call, [name]: value })));
    }
  }
  return missing.length > 0
    ? { kind: 'missing', names: missing }
    : { kind: 'filled', calls: calls.slice(0, MAX_CALLS) };
}

/** `name=value` or `name: "value"`. */
function namedValue(name: string, schema: JsonObject, text: string): JsonValue[] | undefined {
  const escaped = name.replace(/[^\w]/g, '\\$&');
  const value = String.raw`(?:"(?<quoted>[^"]*)"|(?<bare>[^\s,;?]+))`;
  const { quoted, bare } =
    new RegExp(String.raw`(?<!\w)${escaped}\s*[=:]\s*${value}`, 'i').exec(text)?.groups ?? {};
  const given = quoted ?? bare;
  return given === undefined ? undefined : [asType(given, schema)];
}

/** The values of a parameter whose name has a known meaning. */
function meantValues(name: string, schema: JsonObject, text: string): JsonValue[] {
  const wantsNumber = schema.type === 'integer' || schema.type === 'number';
  switch (name.toLowerCase().replace(/[^a-z0-9]/g, '')) {
    case 'timezone':
    case 'tz':
    case 'zone':
      return zonesIn(text);
    case 'expression':
    case 'expr':
    case 'formula':
      return expressionsIn(text);
    case 'address':
    case 'wallet':
    case 'account':
    case 'owner':
      return listed(addressIn(text));
    case 'name':
    case 'ensname':
    case 'ens':
      return listed(ensNameIn(text));
    case 'chain':
    case 'chainid':
    case 'network':
      return listed(chainIn(text, wantsNumber ? 'id' : 'name'));
    case 'symbol':
    case 'symbols':
    case 'token':
    case 'tokens':
    case 'coin':
    case 'coins':
    case 'asset':
    case 'assets':
      return coinsIn(text);
    case 'block':
    case 'blocknumber':
    case 'blocktag': {
      const block = blockIn(text);
      return wantsNumber && typeof block !== 'number'
        ? []
        : listed(block).map((found) => (wantsNumber ? found : String(found)));
    }
    case 'hash':
    case 'txhash':
    case 'transactionhash':
      return listed(hashIn(text));
    default:
      return listed(enumerated(schema, text));
  }
}

function enumerated(schema: JsonObject, text: string): JsonValue | undefined {
  const words = new Set(text.toLowerCase().match(/[\w.-]+/g));
  return listOf(schema.enum).find((value) => typeof value === 'string' && words.has(value.toLowerCase()));
}

/**
 * Returns values that belong to no named parameter, each once: numbers in order, quotations, then the words after the
 * tool's name.
 */
function looseValues(tool: ToolDescription, text: string): (schema: JsonObject) => JsonValue[] {
  const numbers = text.match(/-?\b\d+(?:\.\d+)?\b/g) ?? [];
  const quotations = [...text.matchAll(/["“](?<words>[^"”]+)["”]/g)].map(({ groups }) => groups?.words ?? '');
  const tail = tailOf(tool, text);
  const texts = quotations.length > 0 ? quotations : tail === '' ? [] : [tail];
  return (schema) => {
    if (listOf(schema.enum).length > 0) return [];
    switch (schema.type) {
      case 'integer':
      case 'number':
        return listed(numbers.shift()).map(Number);
      case 'string':
        return listed(texts.shift());
      default:
        return [];
    }
  };
}

/** The text after the last word of the tool's name, without a leading preposition. */
function tailOf(tool: ToolDescription, text: string): string {
  const ends = [tool.name.toLowerCase(), ...nameWords(tool)].map((word) => {
    const at = text.toLowerCase().lastIndexOf(word);
    return at < 0 ? 0 : at + word.length;
  });
  const rest = text.slice(Math.max(0, ...ends)).replace(/^[\w]*[\s:,]*/, '');
  return rest
    .replace(/^(?:(?:for|of|about|in|with|named|called|to|on|the|tool|is)\s+)+/i, '')
    .replace(/[\s.?!]+$/, '');
}

/** The words of a tool's name, in lower case. */
export function nameWords({ name }: ToolDescription): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

function asType(given: string, schema: JsonObject): JsonValue {
  if (
    (schema.type === 'integer' || schema.type === 'number') &&
    given.trim() !== '' &&
    Number.isFinite(Number(given))
  ) {
    return Number(given);
  }
  if (schema.type === 'boolean') return /^(?:true|yes|on|1)$/i.test(given);
  return given;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return value instanceof Array ? value : [];
}

function listed<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
