import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { Schemas, SeedPhrases } from '../ports/tool.js';
import { RefusedError, type Problem } from '../model/refusal.js';

const PEM = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----/i;
/** An extended private key of a wallet (BIP 32, SLIP 132). */
const EXTENDED_KEY = /\b[tuvxyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}\b/i;
const BARE_KEY = /^(0x)?[0-9a-f]{64}$/i;
/**
 * Argument names that denote a key or a seed, in any spelling (`private_key`, `privateKey`, `seed-phrase`): as the
 * whole name, or as a part of it (`wallet_private_key`).
 */
const WHOLE_NAMES = new Set(['seed', 'keystore', 'xprv', 'walletkey', 'secretkey', 'signingkey']);
const PARTS_OF_NAMES = /privatekey|privkey|mnemonic|seedphrase|seedwords|(recovery|secret|backup)phrase/;
const MAX_DEPTH = 32;
/** Strings that a pattern for hex does not match. */
const PROBES = ['hello', 'not-a-hash', 'two words', '12.5', 'a'.repeat(200)];

/** How keys are recognized. Patterns of a tool's schema run only within the time limits of `schemas`. */
export interface KeyDetection {
  readonly seedPhrases: SeedPhrases;
  readonly schemas: Schemas;
}

/** Bare 32-byte hex strings in the arguments, and the patterns that the schema has in their places. */
interface BareKeys {
  readonly patterns: readonly string[];
  readonly found: { readonly text: string; readonly path: string }[];
}

/**
 * Finds a private key or a seed phrase in the arguments of a tool. A bare 32-byte hex string may be a transaction hash:
 * it is accepted where the tool's schema has a `pattern` specific to it, as is a number named `seed` where the schema
 * asks for a number. The returned problem never contains the value found, neither in its message nor in its path.
 */
export function findExposure(
  args: JsonObject,
  schema: JsonObject,
  { seedPhrases, schemas }: KeyDetection,
): Problem | undefined {
  const isSeedPhrase = seedPhrases.startSearch();
  /** By the JSON of their patterns. */
  const bareKeys = new Map<string, BareKeys>();
  return visit(args, [schema], 'args', 0) ?? unexpectedKey([...bareKeys.values()], schemas);

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
    // A seed phrase may be an array of words.
    const words = value.filter((item) => typeof item === 'string').join(' ');
    if (isSeedPhrase(words)) return seedPhrase(path);
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
    if (isSeedPhrase(text)) return seedPhrase(path);
    if (!BARE_KEY.test(text.trim())) return undefined;
    const patterns = wanted.flatMap(({ pattern }) => (typeof pattern === 'string' ? [pattern] : []));
    if (patterns.length === 0) return privateKey(path);
    const id = JSON.stringify(patterns);
    const alike = bareKeys.get(id) ?? { patterns, found: [] };
    alike.found.push({ text, path });
    bareKeys.set(id, alike);
    return undefined;
  }
}

/**
 * Finds a bare key that no pattern of its place is specific to: one that matches it and none of `PROBES`. One schema
 * checks all keys, so that the time limits of `schemas` bound the whole; if they are exceeded, the first key is the
 * problem.
 */
function unexpectedKey(groups: readonly BareKeys[], schemas: Schemas): Problem | undefined {
  const [first] = groups.flatMap(({ found }) => found);
  if (first === undefined) return undefined;
  const schema = { type: 'array', prefixItems: groups.map(({ patterns }) => listFor(patterns)) };
  const value = groups.map(({ found }) => found.map(({ text }) => [text, ...PROBES]));
  const [problem] = problemsOf(schema, value, schemas);
  if (problem === undefined) return undefined;
  const [group = 0, index = 0] = problem.path.split('.').map(Number);
  return privateKey((groups[group]?.found[index] ?? first).path);
}

/** The schema of a list of `[text, ...PROBES]`, where one of the patterns matches the text and none of the probes. */
function listFor(patterns: readonly string[]): JsonObject {
  const specific = patterns.map((pattern) => ({
    prefixItems: [{ pattern }],
    items: { not: { pattern } },
  }));
  return { items: { anyOf: specific } };
}

/** A schema that cannot be compiled, because of an invalid or slow pattern, matches nothing. */
function problemsOf(schema: JsonObject, value: JsonValue, schemas: Schemas): readonly Problem[] {
  try {
    return schemas.compile(schema)(value);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    return [{ path: '', message: 'cannot be checked' }];
  }
}

function privateKey(path: string): Problem {
  return { path, message: 'looks like a private key, which is never sent to a tool' };
}

function seedPhrase(path: string): Problem {
  return { path, message: 'holds a seed phrase, which is never sent to a tool' };
}

function saysKey(name: string): boolean {
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return WHOLE_NAMES.has(letters) || PARTS_OF_NAMES.test(letters);
}

/** True for a number or boolean where the schema asks for one: the seed of a random generator is not a secret. */
function isPlain(value: JsonValue, schemas: readonly JsonObject[]): boolean {
  if (typeof value !== 'number' && typeof value !== 'boolean') return false;
  return schemas.some(({ type }) => type === 'number' || type === 'integer' || type === 'boolean');
}

function propertyOf(schema: JsonObject, name: string): JsonValue | undefined {
  const { properties, additionalProperties } = schema;
  const isNamed = isJsonObject(properties) && Object.hasOwn(properties, name);
  return isNamed ? properties[name] : additionalProperties;
}

/** Returns a schema and its `anyOf`, `oneOf` and `allOf` parts. */
function alternatives(schema: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonObject(schema)) return [];
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].filter(isList).flat();
  return [schema, ...parts.filter((part) => isJsonObject(part))];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function first(checks: readonly (() => Problem | undefined)[]): Problem | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}
