import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/core/model/json.js';
import { RefusedError } from '../../../src/core/model/refusal.js';
import {
  flatUserState,
  MAX_USER_STATE_BYTES,
  mergeUserState,
  patchedUserState,
  shownUserState,
  type UserState,
} from '../../../src/core/model/user-state.js';

const ADDRESS = '0x00000000219ab540356cbb839cbe05303d7705fa';

/** Names that matter to the merge, and names that have hurt others. */
const keys = fc.constantFrom(
  ...['evm', 'connection', 'address', 'chain_id', 'is_connected', 'pending', 'pending_txs', 'a', 'b', '1'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'toJSON', 'hasOwnProperty'],
);
const leaves: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.constantFrom(-0, Infinity), // what JSON.parse makes of -0 and 1e999
  fc.string({ unit: 'binary' }),
  fc.constant(ADDRESS),
);
const { objects } = fc.letrec<{ objects: JsonObject; values: JsonValue }>((tie) => ({
  values: fc.oneof({ depthSize: 'small' }, leaves, tie('objects'), fc.array(tie('values'), { maxLength: 3 })),
  objects: fc
    .array(fc.tuple(keys, tie('values')), { maxLength: 6 })
    .map((entries) => Object.fromEntries(entries)),
}));
/** As a client's text gives them: `__proto__` is an own property, -0 and infinities are what JSON makes of them. */
const patches = objects.map((patch) => fromText(JSON.stringify(patch)));
/** As wallets' clients send them. */
const walletPatches: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      address: fc.constantFrom(null, ADDRESS),
      chain_id: fc.constantFrom(null, 1, '0x1'),
      is_connected: fc.constantFrom(null, true, false),
      evm: fc.constantFrom(null, { chain_id: null }, { address: ADDRESS, chain_id: 1 }, { ens: 'a.eth' }),
      connection: fc.constantFrom(null, {}, { is_connected: false }),
    },
    { requiredKeys: [] },
  )
  .map((patch) => fromText(JSON.stringify(patch)));
/** Without the fields that have rules of their own. */
const freePatches = patches.map((patch) => ({ free: patch }));

function fromText(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value)) throw new Error('not an object');
  return value;
}

/** RFC 7396, section 2, as its pseudocode has it, on own properties. */
function referencePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const result = new Map<string, JsonValue>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, referencePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** The state after patches; a refused one changes nothing. */
function after(...given: readonly JsonObject[]): UserState | null {
  let state: UserState | null = null;
  for (const patch of given) {
    try {
      state = mergeUserState(state, patch);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  return state;
}

function refusal(act: () => unknown): RefusedError {
  try {
    act();
  } catch (error) {
    if (error instanceof RefusedError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let at = 0; at < depth; at++) value = { a: value };
  return value;
}

describe('the state of a session', () => {
  it('begins with the first word of a client, and an empty patch is none', () => {
    expect(patchedUserState(null, {})).toBeNull();
    expect(patchedUserState(null, { pending: [] })).toBeNull();
    expect(patchedUserState(null, { a: 1 })).toEqual({ tree: { a: 1 }, flat: false });
    expect(patchedUserState({ tree: { a: 1 }, flat: false }, { a: null })).toEqual({ tree: {}, flat: false });
  });
});

describe('merging user state', () => {
  it('keeps unknown keys and merges deeply', () => {
    const first = mergeUserState(null, { evm: { address: ADDRESS, ens: 'a.eth' }, theme: { dark: true } });
    const second = mergeUserState(first, { evm: { chain_id: 1 }, theme: { size: 2 } });
    expect(second.tree).toEqual({
      evm: { address: ADDRESS, ens: 'a.eth', chain_id: 1 },
      theme: { dark: true, size: 2 },
    });
  });

  it('moves flat keys to their places, over nested ones', () => {
    const state = mergeUserState(null, { address: ADDRESS, chain_id: 5, evm: { address: '0x1', x: 1 } });
    expect(state).toEqual({ tree: { evm: { address: ADDRESS, x: 1, chain_id: 5 } }, flat: true });
  });

  it('remembers that flat keys were received', () => {
    const flat = mergeUserState(null, { is_connected: true });
    expect(mergeUserState(flat, { evm: { chain_id: 2 } }).flat).toBe(true);
    expect(mergeUserState(null, { evm: { chain_id: 2 } }).flat).toBe(false);
  });

  it.each([{ is_connected: false }, { connection: { is_connected: false } }])(
    'clears address and chain on a disconnect: %j',
    (patch) => {
      const state = mergeUserState(null, { evm: { address: ADDRESS, chain_id: 1, ens: 'a.eth' } });
      expect(mergeUserState(state, patch).tree.evm).toEqual({ address: null, chain_id: null, ens: 'a.eth' });
    },
  );

  it('does not clear on a later patch that says nothing of the connection', () => {
    const gone = mergeUserState(null, { is_connected: false });
    expect(flatUserState(mergeUserState(gone, { address: ADDRESS })).address).toBe(ADDRESS);
  });

  it("ignores the server's own words", () => {
    expect(mergeUserState(null, { pending: 1, pending_txs: [], pending_eip712s: {}, a: 1 }).tree).toEqual({
      a: 1,
    });
  });

  it.each<[JsonObject, string]>([
    [{ evm: 1 }, 'user_state.evm'],
    [{ connection: [] }, 'user_state.connection'],
    [{ evm: { address: 1 } }, 'user_state.evm.address'],
    [{ evm: { chain_id: 1.5 } }, 'user_state.evm.chain_id'],
    [{ chain_id: true }, 'user_state.chain_id'],
    [{ address: {} }, 'user_state.address'],
    [{ is_connected: 'yes' }, 'user_state.is_connected'],
    [{ connection: { is_connected: 0 } }, 'user_state.connection.is_connected'],
  ])('refuses %j', (patch, path) => {
    const error = refusal(() => mergeUserState(null, patch));
    expect(error.reason).toBe('invalid');
    expect(error.details.map((problem) => problem.path)).toEqual([path]);
  });

  it('takes null for every known field', () => {
    const patch = { evm: { address: null, chain_id: null }, connection: { is_connected: null } };
    expect(mergeUserState(null, patch).tree).toEqual({ evm: {}, connection: {} });
    expect(mergeUserState(null, { evm: null, connection: null, address: null }).tree).toEqual({ evm: {} });
  });
});

describe('limits of user state', () => {
  it('takes 64 KiB and refuses a byte more', () => {
    const room = MAX_USER_STATE_BYTES - JSON.stringify({ a: '' }).length;
    expect(mergeUserState(null, { a: 'x'.repeat(room) }).tree.a).toHaveLength(room);
    expect(refusal(() => mergeUserState(null, { a: 'x'.repeat(room + 1) })).reason).toBe('invalid');
    expect(refusal(() => mergeUserState(null, { a: 'ä'.repeat(room / 2 + 1) })).reason).toBe('invalid');
  });

  it('refuses a small patch that makes the state too large', () => {
    const state = mergeUserState(null, { a: 'x'.repeat(40_000) });
    expect(refusal(() => mergeUserState(state, { b: 'x'.repeat(40_000) })).reason).toBe('invalid');
  });

  it.each([33, 30_000])('refuses a depth of %d without falling over', (depth) => {
    expect(refusal(() => mergeUserState(null, nested(depth))).message).toContain('nested deeper');
    expect(mergeUserState(null, nested(32)).tree).toEqual(nested(32));
  });
});

describe('laws of user state', () => {
  it('throws nothing but refusals, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(objects, patches), { maxLength: 4 }), (given) => {
        const state = after(...given);
        if (state !== null) shownUserState(state);
        const flat = flatUserState(state);
        expect(flat.chainId === null || Number.isSafeInteger(flat.chainId)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is the merge patch of RFC 7396 where no known field is touched', () => {
    fc.assert(
      fc.property(freePatches, freePatches, (first, second) => {
        const both = after(first, second)?.tree;
        expect(JSON.stringify(both)).toBe(JSON.stringify(referencePatch(referencePatch({}, first), second)));
      }),
    );
  });

  it('says by identity that a repeated patch changes nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(patches, walletPatches), { minLength: 1, maxLength: 3 }), (given) => {
        const state = after(...given);
        fc.pre(state !== null);
        expect(mergeOr(state, given.at(-1) ?? {})).toBe(state);
        expect(mergeOr(state, {})).toBe(state);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a tree that a store gives back as it was', () => {
    fc.assert(
      fc.property(objects, objects, (first, second) => {
        const state = after(first, second);
        fc.pre(state !== null);
        expect(isDeepStrictEqual(state.tree, fromText(JSON.stringify(state.tree)))).toBe(true);
      }),
    );
  });

  it('leaves the patch and the former state as they were', () => {
    fc.assert(
      fc.property(patches, patches, (first, second) => {
        const state = after(first);
        const before = JSON.stringify([state, second]);
        after(first, second);
        if (state !== null) mergeOr(state, second);
        expect(JSON.stringify([state, second])).toBe(before);
      }),
    );
  });

  it('pollutes no prototype', () => {
    const patch =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"evm":{"__proto__":{"address":"x"}}}';
    const state = mergeUserState(mergeUserState(null, fromText(patch)), fromText(patch));
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Object.getPrototypeOf(state.tree)).toBe(Object.prototype);
    expect(flatUserState(state).address).toBeNull();
    expect(Object.keys(shownUserState(state))).toContain('__proto__');
  });
});

function mergeOr(state: UserState, patch: JsonObject): UserState {
  try {
    return mergeUserState(state, patch);
  } catch (error) {
    if (error instanceof RefusedError) return state;
    throw error;
  }
}

describe('showing user state', () => {
  it('adds the flat keys once any was received', () => {
    expect(shownUserState(mergeUserState(null, { evm: { address: ADDRESS } }))).toEqual({
      evm: { address: ADDRESS },
    });
    expect(shownUserState(mergeUserState(null, { address: ADDRESS, b: 1 }))).toEqual({
      evm: { address: ADDRESS },
      b: 1,
      address: ADDRESS,
      chain_id: null,
      is_connected: null,
    });
  });

  it.each<[JsonValue, number | null]>([
    [1, 1],
    ['137', 137],
    ['0x2105', 8453],
    [' 10 ', 10],
    ['', null],
    ['eip155:1', null],
    ['0x', null],
    ['1e3', null],
    ['99999999999999999999', null],
    [2 ** 53, null],
    [null, null],
  ])('reads the chain id %j as %j', (given, shown) => {
    expect(flatUserState(mergeUserState(null, { chain_id: given })).chainId).toBe(shown);
  });

  it('knows nothing of a session without state', () => {
    expect(flatUserState(null)).toEqual({ address: null, chainId: null, isConnected: null });
  });
});
