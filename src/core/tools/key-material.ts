import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { SeedPhrases } from '../ports/tool.js';
import type { Problem } from '../model/refusal.js';

const PEM = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/i;
/** An extended private key of a wallet (BIP 32, SLIP 132). */
const EXTENDED_KEY = /\b[tuvxyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b/i;
const BARE_KEY = /^(0x)?[0-9a-f]{64}$/i;
/**
 * What the name of an argument says that holds a key or a seed, in any spelling (`private_key`, `privateKey`,
 * `seed-phrase`): as its whole name, or anywhere in it (`wallet_private_key`).
 */
const WHOLE_NAMES = new Set(['seed', 'keystore', 'xprv', 'walletkey', 'secretkey', 'signingkey']);
const PARTS_OF_NAMES = /privatekey|privkey|mnemonic|seedphrase|seedwords|(recovery|secret|backup)phrase/;
const MAX_DEPTH = 32;
/** Texts that a pattern made for hex does not match. */
const PROBES = ['hello', 'not-a-hash', 'two words', '12.5', 'a'.repeat(200)];

/**
 * Where the arguments of a tool hold a private key or a seed phrase, if they do. Thirty-two bare bytes in hex may be a
 * transaction hash: they are let through where the tool's schema has a `pattern` that asks for them; a number named
 * `seed` where it asks for a number. What is found is never repeated in the message, nor in the path.
 */
export function findExposure(
  args: JsonObject,
  schema: JsonObject,
  seedPhrases: SeedPhrases,
): Problem | undefined {
  return visit(args, [schema], 'args', 0);

  function visit(
    value: JsonValue,
    wanted: readonly JsonObject[],
    path: string,
    depth: number,
  ): Problem | undefined {
    if (depth > MAX_DEPTH) return { path, message: 'is nested too deeply' };
    if (typeof value === 'string') return inText(value, wanted, path);
    if (typeof value !== 'object' || value === null) return undefined;
    if (isJsonObject(value)) return inObject(value, wanted, path, depth);
    // A phrase may come word by word.
    const words = value.filter((item) => typeof item === 'string').join(' ');
    if (seedPhrases.isSeedPhrase(words)) return seedPhrase(path);
    const items = wanted.flatMap((schema) => alternatives(schema.items));
    return first(value.map((item, index) => () => visit(item, items, `${path}.${String(index)}`, depth + 1)));
  }

  function inObject(
    value: JsonObject,
    wanted: readonly JsonObject[],
    path: string,
    depth: number,
  ): Problem | undefined {
    return first(
      Object.entries(value).map(([name, inner]) => () => {
        const inName = inText(name, [], path);
        if (inName !== undefined) return inName;
        const place = `${path}.${name}`;
        const schemas = wanted.flatMap((schema) => alternatives(propertyOf(schema, name)));
        if (inner !== null && saysKey(name) && !isPlain(inner, schemas)) {
          return { path: place, message: 'private keys and seeds are never sent to a tool' };
        }
        return visit(inner, schemas, place, depth + 1);
      }),
    );
  }

  function inText(text: string, wanted: readonly JsonObject[], path: string): Problem | undefined {
    if (PEM.test(text) || EXTENDED_KEY.test(text))
      return { path, message: 'holds a private key, which is never sent to a tool' };
    if (seedPhrases.isSeedPhrase(text)) return seedPhrase(path);
    if (BARE_KEY.test(text.trim()) && !wanted.some((schema) => asksFor(schema, text))) {
      return { path, message: 'looks like a private key, which is never sent to a tool' };
    }
    return undefined;
  }
}

function seedPhrase(path: string): Problem {
  return { path, message: 'holds a seed phrase, which is never sent to a tool' };
}

function saysKey(name: string): boolean {
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return WHOLE_NAMES.has(letters) || PARTS_OF_NAMES.test(letters);
}

/** A number or a yes or no, where the tool wants just that: a seed of chance is no secret. */
function isPlain(value: JsonValue, schemas: readonly JsonObject[]): boolean {
  if (typeof value !== 'number' && typeof value !== 'boolean') return false;
  return schemas.some(({ type }) => type === 'number' || type === 'integer' || type === 'boolean');
}

function propertyOf(schema: JsonObject, name: string): JsonValue | undefined {
  const { properties } = schema;
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** A schema and those that it is made of. */
function alternatives(schema: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].filter(isList).flat();
  return [schema, ...parts.filter((part) => isJsonObject(part))];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a schema has a pattern that was made for this text: one that takes anything asks for nothing. */
function asksFor({ pattern }: JsonObject, text: string): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    const matcher = new RegExp(pattern, 'u');
    return matcher.test(text) && !PROBES.some((probe) => matcher.test(probe));
  } catch {
    // Not a pattern that JSON Schema allows: then it asks for nothing.
    return false;
  }
}

function first(checks: readonly (() => Problem | undefined)[]): Problem | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}
