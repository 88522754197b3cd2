import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from './json.js';
import { RefusedError, type Problem } from './refusal.js';
import type { PendingRequest } from './wallet-request.js';

/** The user state of a session: nested, with every key that a client has sent. */
export interface UserState {
  readonly tree: JsonObject;
  /** True once the session has received flat keys (`address`, `chain_id`, `is_connected`). */
  readonly flat: boolean;
}

/** The three fields that both surfaces have, as the legacy surface shows them; null: unknown. */
export interface FlatUserState {
  readonly address: string | null;
  readonly chainId: number | null;
  readonly isConnected: boolean | null;
}

/** The maximum size of a session's user state, as JSON in UTF-8. */
export const MAX_USER_STATE_BYTES = 65_536;
const MAX_DEPTH = 32;
const FLAT_KEYS = new Set(['address', 'chain_id', 'is_connected']);
/** Keys that are reserved for the server: the merge ignores them in a patch. */
const SERVER_KEYS = new Set(['pending_txs', 'pending_eip712s', 'pending']);
const NOTHING: readonly PendingRequest[] = [];

/**
 * Merges a client's patch into the state, as a JSON merge patch (RFC 7396). Flat keys take precedence over nested ones.
 * `is_connected: false` in the patch also clears address and chain. Returns the same object if nothing changes.
 * @throws RefusedError `invalid` if a known field has the wrong type, the patch is nested deeper than 32 levels, or the
 * patch or the state exceeds 64 KiB
 */
export function mergeUserState(state: UserState | null, patch: JsonObject): UserState {
  const problems = [...findProblems(patch)];
  const [first] = problems;
  if (first !== undefined) throw new RefusedError('invalid', `${first.path}: ${first.message}`, problems);

  const flat = [...FLAT_KEYS].some((key) => Object.hasOwn(patch, key));
  const nested = asNested(patch);
  let tree = mergePatch(state?.tree ?? {}, nested);
  if (at(nested, 'connection', 'is_connected') === false && isJsonObject(tree.evm)) {
    // The first spread fixes the order of keys, so that a patch which removes one of them leaves the JSON equal.
    const cleared = { address: null, chain_id: null };
    tree = { ...tree, evm: { ...cleared, ...tree.evm, ...cleared } };
  }
  const text = JSON.stringify(tree);
  if (Buffer.byteLength(text) > MAX_USER_STATE_BYTES) throw tooLarge();
  const isFlat = flat || (state?.flat ?? false);
  if (state !== null && state.flat === isFlat && JSON.stringify(state.tree) === text) return state;
  return { tree: asStored(text), flat: isFlat };
}

/** Like `mergeUserState`, but a session without state stays without one if the patch is empty. */
export function patchedUserState(state: UserState | null, patch: JsonObject): UserState | null {
  const merged = mergeUserState(state, patch);
  const isSilent = state === null && !merged.flat && Object.keys(merged.tree).length === 0;
  return isSilent ? null : merged;
}

/**
 * Returns the state as the current surface shows it: all keys, plus the flat ones once any was received.
 * @param pending what the wallet is asked to sign, which the state shows beside what the client has sent: at the top
 * level and in `pending`
 */
export function shownUserState(state: UserState, pending?: readonly PendingRequest[]): JsonObject;
/** @returns null without a state and without pending requests */
export function shownUserState(
  state: UserState | null,
  pending: readonly PendingRequest[],
): JsonObject | null;
export function shownUserState(
  state: UserState | null,
  pending: readonly PendingRequest[] = NOTHING,
): JsonObject | null {
  if (pending.length === 0) return state === null ? null : sentState(state);
  return { ...(state !== null && sentState(state)), ...shownRequests(pending) };
}

function sentState(state: UserState): JsonObject {
  if (!state.flat) return state.tree;
  return {
    ...state.tree,
    address: at(state.tree, 'evm', 'address') ?? null,
    chain_id: at(state.tree, 'evm', 'chain_id') ?? null,
    is_connected: at(state.tree, 'connection', 'is_connected') ?? null,
  };
}

/** Returns the keys that the user state gets for pending requests: flat ones, and the group `pending`. */
function shownRequests(pending: readonly PendingRequest[]): JsonObject {
  const transactions: Record<string, JsonObject> = {};
  const signatures: Record<string, JsonObject> = {};
  for (const { id, payload, chainId, wallet, label } of pending) {
    if (payload.kind === 'transaction') {
      const { to, value, data, gas } = payload;
      transactions[String(id)] = {
        ...{ to, value, data, chain_id: chainId, from: wallet },
        ...(gas !== null && { gas }),
        label,
        ...(data === '0x' && { kind: 'native_transfer' }),
      };
    } else {
      const { typedData, text } = payload;
      signatures[String(id)] = {
        ...{ typed_data: typedData, description: label, chain_id: chainId, from: wallet },
        ...(text !== null && { message: text }),
      };
    }
  }
  const hasTransactions = Object.keys(transactions).length > 0;
  const hasSignatures = Object.keys(signatures).length > 0;
  return {
    ...(hasTransactions && { pending_txs: transactions }),
    ...(hasSignatures && { pending_eip712s: signatures }),
    pending: {
      ...(hasTransactions && { evm_txs: transactions }),
      ...(hasSignatures && { evm_sigs: signatures }),
    },
  };
}

/** Extracts the flat fields. A chain id in decimal or `0x` digits becomes an integer. */
export function flatUserState(state: UserState | null): FlatUserState {
  const tree = state?.tree ?? {};
  const address = at(tree, 'evm', 'address');
  const isConnected = at(tree, 'connection', 'is_connected');
  return {
    address: typeof address === 'string' ? address : null,
    chainId: chainNumber(at(tree, 'evm', 'chain_id')),
    isConnected: typeof isConnected === 'boolean' ? isConnected : null,
  };
}

/** Returns the tree as a store would: JSON has neither -0 nor the infinity that `JSON.parse` makes of 1e999. */
function asStored(text: string): JsonObject {
  const tree: unknown = JSON.parse(text);
  return isJsonObject(tree) ? tree : {};
}

function chainNumber(value: JsonValue | undefined): number | null {
  if (typeof value === 'string' && !/^(0x[0-9a-f]+|\d+)$/i.test(value.trim())) return null;
  const number = typeof value === 'string' ? Number(value.trim()) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

function at(tree: JsonObject, group: string, key: string): JsonValue | undefined {
  const inner = tree[group];
  return isJsonObject(inner) ? inner[key] : undefined;
}

/** Moves flat keys to their nested places, where they take precedence, and drops the keys reserved for the server. */
function asNested(patch: JsonObject): JsonObject {
  const { address, chain_id, is_connected } = patch;
  const evm = defined({ address, chain_id });
  const connection = defined({ is_connected });
  const rest = Object.entries(patch).filter(([key]) => !FLAT_KEYS.has(key) && !SERVER_KEYS.has(key));
  return { ...Object.fromEntries(rest), ...over('evm', evm), ...over('connection', connection) };

  function over(group: string, fields: JsonObject): JsonObject {
    if (Object.keys(fields).length === 0) return {};
    const given = patch[group];
    return { [group]: { ...(isJsonObject(given) ? given : {}), ...fields } };
  }
}

function defined(fields: Record<string, JsonValue | undefined>): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) kept[key] = value;
  return kept;
}

/** Applies a JSON merge patch (RFC 7396). Uses own properties only, so that a key named `__proto__` is plain data. */
function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, isJsonObject(value) ? mergePatch(merged.get(key), value) : value);
  }
  return Object.fromEntries(merged);
}

function* findProblems(patch: JsonObject): Generator<Problem> {
  if (isDeeperThan(patch, MAX_DEPTH)) {
    yield { path: 'user_state', message: `is nested deeper than ${String(MAX_DEPTH)} levels` };
    return;
  }
  if (Buffer.byteLength(JSON.stringify(patch)) > MAX_USER_STATE_BYTES) throw tooLarge();
  const groups: readonly (readonly [string, JsonValue | undefined])[] = [
    ['user_state', patch],
    ['user_state.evm', patch.evm],
    ['user_state.connection', patch.connection],
  ];
  for (const [path, group] of groups) {
    if (group === undefined || group === null) continue;
    if (!isJsonObject(group)) {
      yield { path, message: 'must be an object or null' };
      continue;
    }
    const isFlat = path === 'user_state';
    if (isFlat || path === 'user_state.evm') {
      if (!isTextOrNull(group.address))
        yield { path: `${path}.address`, message: 'must be a string or null' };
      if (!isChainOrNull(group.chain_id)) {
        yield { path: `${path}.chain_id`, message: 'must be an integer, a string or null' };
      }
    }
    if (isFlat || path === 'user_state.connection') {
      const value = group.is_connected;
      if (value !== undefined && value !== null && typeof value !== 'boolean') {
        yield { path: `${path}.is_connected`, message: 'must be a boolean or null' };
      }
    }
  }
}

function isTextOrNull(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function isChainOrNull(value: JsonValue | undefined): boolean {
  return isTextOrNull(value) || (typeof value === 'number' && Number.isInteger(value));
}

function tooLarge(): RefusedError {
  const message = `user_state must have at most ${String(MAX_USER_STATE_BYTES)} bytes`;
  return new RefusedError('invalid', message, [{ path: 'user_state', message }]);
}
