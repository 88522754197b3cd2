import { describe, expect, it } from '@jest/globals';
import { createSchemas } from '../../../src/adapters/tools/schema/schemas.js';
import { seedPhrases } from '../../../src/adapters/tools/seed-phrases/seed-phrases.js';
import { findExposure } from '../../../src/core/tools/key-material.js';
import type { JsonObject, JsonValue } from '../../../src/core/model/json.js';
import { objectOf } from '../../support/house.js';

const PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const HEX = 'ab'.repeat(32);
const ANY = { type: 'object' };
const schemas = createSchemas();

function find(args: JsonObject, schema: JsonObject = ANY) {
  return findExposure(args, schema, { seedPhrases, schemas });
}

function property(schema: JsonObject): JsonObject {
  return { type: 'object', properties: { hash: schema } };
}

describe('what is found', () => {
  const found: readonly (readonly [string, JsonObject, string])[] = [
    ['a PEM key', { note: 'x -----BEGIN PRIVATE KEY----- y' }, 'args.note'],
    ['a PEM key of a kind', { a: { b: ['-----BEGIN RSA PRIVATE KEY-----'] } }, 'args.a.b.0'],
    ['an OpenSSH key', { k: '-----BEGIN OPENSSH PRIVATE KEY-----' }, 'args.k'],
    ['a PGP key', { k: '-----BEGIN PGP PRIVATE KEY BLOCK-----' }, 'args.k'],
    ['an extended key', { k: `xprv9s21ZrQH143K${'3'.repeat(95)}` }, 'args.k'],
    ['a seed phrase', { text: PHRASE }, 'args.text'],
    ['a seed phrase in a sentence', { text: `My words: ${PHRASE.toUpperCase()}!` }, 'args.text'],
    [
      'a numbered seed phrase',
      {
        text: PHRASE.split(' ')
          .map((w, n) => `${String(n + 1)}. ${w}`)
          .join('\n'),
      },
      'args.text',
    ],
    ['a seed phrase word by word', { words: PHRASE.split(' ') }, 'args.words'],
    ['a seed phrase as a name', { in: { [PHRASE]: 1 } }, 'args.in'],
    ['bare hex', { hash: HEX }, 'args.hash'],
    ['bare hex with 0x and blanks', { hash: ` 0x${HEX.toUpperCase()}\n` }, 'args.hash'],
    ['bare hex as a name', { [HEX]: 1 }, 'args'],
    ['hex in a list', { list: ['x', `0x${HEX}`] }, 'args.list.1'],
  ];

  it.each(found)('%s', (_name, args, path) => {
    const problem = find(args);
    expect(problem?.path).toBe(path);
    // Neither the place nor the words repeat it.
    expect(JSON.stringify(problem)).not.toMatch(/legal winner|abab|xprv9|BEGIN/i);
  });

  const names = [
    'private_key',
    'privateKey',
    'PRIVATE-KEY',
    'walletPrivateKey',
    'privkey',
    'secret_key',
    'signing_key',
  ];
  it.each([
    ...names,
    'mnemonic',
    'mnemonic_phrase',
    'seed',
    'Seed Phrase',
    'recovery_phrase',
    'keystore',
    'xprv',
  ])('an argument named %s, at any depth', (name) => {
    for (const value of ['x', ['a'], { a: 1 }, '']) {
      expect(find({ deep: [{ [name]: value }] })?.path).toBe(`args.deep.0.${name}`);
    }
    expect(find({ [name]: null })).toBeUndefined();
  });

  it('words of the list that are too many to be checked, in all texts together', () => {
    const text = Array(100).fill('zoo').join(' ');
    expect(find({ a: text, b: text })).toBeUndefined();
    expect(find({ a: text, b: [text, text], c: text })?.message).toContain('holds a seed phrase');
  });

  it('what is nested too deeply to be looked at', () => {
    let value: JsonValue = 'x';
    for (let depth = 0; depth < 5000; depth++) value = [value];
    expect(find({ value })?.message).toBe('is nested too deeply');
  });
});

describe('what is let through', () => {
  it.each<readonly [string, JsonObject]>([
    ['nothing', {}],
    ['usual arguments', { city: 'Paris', days: 3, units: null, ok: true, list: ['a', 'b'] }],
    ['a public key', { pem: '-----BEGIN PUBLIC KEY-----' }],
    ['words of the list without a checksum', { text: Array(12).fill('zoo').join(' ') }],
    ['an address', { to: `0x${'ab'.repeat(20)}` }],
    ['hex within a text', { text: `the hash is ${HEX}` }],
    ['longer hex', { data: `0x${HEX}ab` }],
    ['names that hold other words', { seeds_planted: 3, keyboard: 'x', public_key: 'y', monkey: 'z' }],
  ])('%s', (_name, args) => {
    expect(find(args)).toBeUndefined();
  });

  const hash = `0x${HEX}`;
  it.each<readonly [string, JsonObject]>([
    ['a pattern', { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }],
    ['one of several', { anyOf: [{ type: 'null' }, { type: 'string', pattern: '^0x[0-9a-f]{64}$' }] }],
  ])('32 bytes of hex where the schema asks for them by %s', (_name, schema) => {
    expect(find({ hash }, property(schema))).toBeUndefined();
    expect(find({ hash: [hash] }, property({ type: 'array', items: schema }))).toBeUndefined();
    // Only there.
    expect(find({ hash, other: hash }, property(schema))?.path).toBe('args.other');
  });

  it.each<readonly [string, JsonObject]>([
    ['its additional properties', { additionalProperties: { pattern: '^0x[0-9a-f]{64}$' } }],
    ['one of those', { additionalProperties: { anyOf: [{}, { pattern: '^0x[0-9a-f]{64}$' }] } }],
  ])('32 bytes of hex in an object where the schema asks for them in %s', (_name, schema) => {
    expect(find({ order: { hash } }, { properties: { order: schema } })).toBeUndefined();
    expect(find({ order: { hash: HEX } }, { properties: { order: schema } })?.path).toBe('args.order.hash');
    expect(find({ order: { hash, deep: { hash } } }, { properties: { order: schema } })?.path).toBe(
      'args.order.deep.hash',
    );
    const named = { ...schema, properties: { hash: { type: 'string' } } };
    expect(find({ order: { hash } }, { properties: { order: named } })?.path).toBe('args.order.hash');
  });

  it.each(['^.*$', '.', '\\S+', '^\\S+$', '[0-9a-z]', '(', '^0x[0-9a-f]{40}$'])(
    'but not where the pattern is %s, which was not made for them',
    (pattern) => {
      expect(find({ hash }, property({ type: 'string', pattern }))?.path).toBe('args.hash');
    },
  );

  // Without a time limit, each of these patterns would run for years.
  it.each([
    ['the key', `^(?:[0-9a-f]+)+!$|^0x[0-9a-f]{64}$`, HEX],
    ['other text', '^0x[0-9a-f]{64}$|^(?:a+)+!$', hash],
  ])('nor where matching %s with the pattern takes too long', (_name, pattern, text) => {
    const string = { type: 'string', pattern };
    expect(find({ hash: text }, property(string))?.path).toBe('args.hash');
    expect(find({ hash: [text, hash] }, property({ items: string }))?.path).toBe('args.hash.0');
  });

  it('but the one of several that the schema does not ask for is named', () => {
    const string = { type: 'string', pattern: '^0x[0-9a-f]{64}$' };
    const schema = { type: 'object', properties: { one: string, list: { items: { anyOf: [string] } } } };
    expect(find({ one: hash, list: [hash, hash, HEX] }, schema)?.path).toBe('args.list.2');
    expect(find({ one: HEX, list: [hash] }, schema)?.path).toBe('args.one');
  });

  it('a number named seed where the tool asks for a number, and no text', () => {
    const schema = { type: 'object', properties: { seed: { type: 'integer' } } };
    expect(find({ seed: 42 }, schema)).toBeUndefined();
    expect(find({ seed: '42' }, schema)?.path).toBe('args.seed');
    expect(find({ seed: 42 })?.path).toBe('args.seed');
  });

  it('names that every object has', () => {
    const args = objectOf(JSON.parse('{"__proto__": {"a": "b"}, "constructor": "c"}'));
    expect(find(args, { type: 'object', properties: {} })).toBeUndefined();
  });
});
