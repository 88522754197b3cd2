import { isJsonObject } from '../model/json.js';
import { RefusedError } from '../model/refusal.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { Log } from '../ports/log.js';
import { RigError } from '../ports/rig.js';
import type { SealedSecret, Sealer, SecretStore } from '../ports/secret-store.js';
import { SecretUse } from './secret-use.js';
import { noRoom, sealContext } from './secrets.js';

/** The providers that a client can store a key for. */
export const KEY_PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;

/** Names the client of a request: its id, or a session that is bound to a client. */
export interface KeyOwner {
  readonly clientId: string | undefined;
  readonly sessionId: string | undefined;
}

/** A stored key for a model provider, without the key itself. */
export interface ProviderKey {
  readonly provider: string;
  /** The first characters of the key, by which people distinguish keys. */
  readonly keyPrefix: string;
  readonly label: string | null;
  /** False if the service can no longer decrypt the key. */
  readonly isActive: boolean;
}

/** The App under which the store holds provider keys. No App can have it: names begin with a letter or a digit. */
const KEYS_APP = '@provider-keys';
const MIN_KEY = 8;
const MAX_KEY = 4_096;
const MAX_LABEL = 100;
/** How many characters of a key are shown: at most this many, and at most a third of the key. */
const MAX_PREFIX = 7;
/** Limits that the keys of one client cannot reach: one key per provider, of bounded size. */
const MAX_NAMES = 64;
const MAX_CLIENT_BYTES = 1_048_576;

/** The content of a stored value. */
interface StoredKey {
  readonly key: string;
  readonly label: string | null;
}

/**
 * Stores the keys for model providers that clients bring. They are kept as secrets are: encrypted at rest, decrypted
 * only for a model request of a turn of their client, removed when unused, and never returned.
 */
export class ProviderKeys {
  readonly #use: SecretUse;

  constructor(
    private readonly parts: {
      readonly secretStore: SecretStore;
      readonly sealer: Sealer;
      readonly digests: Digests;
      readonly clock: Clock;
      readonly log: Log;
      /** The maximum size of all provider keys together: `CoreSettings.maxSecretsBytes`, as for an App. */
      readonly maxAppBytes: number;
    },
  ) {
    this.#use = new SecretUse(parts);
  }

  /**
   * Lists a client's keys by provider. A key that can no longer be decrypted is not active.
   * @param client the digest of its id
   */
  async list(client: string): Promise<readonly ProviderKey[]> {
    const holder = this.#holderOf(client);
    const rows = await this.parts.secretStore.readSecrets(holder, KEYS_APP);
    return rows.map((row) => describe(row.name, this.#open(holder, row)));
  }

  /**
   * Seals and stores a key in place of an earlier one for the provider.
   * @throws RefusedError `invalid` for an unknown provider, a malformed key or label; `too_many` when there is no room
   */
  async store(
    client: string,
    given: { readonly provider: string; readonly apiKey: string; readonly label: string | undefined },
  ): Promise<ProviderKey> {
    const { secretStore, sealer, clock, maxAppBytes } = this.parts;
    const provider = checkedProvider(given.provider);
    const stored: StoredKey = { key: checkedKey(given.apiKey), label: checkedLabel(given.label) };
    const holder = this.#holderOf(client);
    const context = sealContext(holder, KEYS_APP, provider);
    const row = { app: KEYS_APP, name: provider, ...sealer.seal(JSON.stringify(stored), context) };
    const bounds = { names: MAX_NAMES, client: MAX_CLIENT_BYTES, app: maxAppBytes };
    const outcome = await secretStore.putSecrets(holder, [row], bounds, clock.now());
    if (outcome !== 'stored') throw noRoom('The service has no room for more provider keys now');
    return describe(provider, stored);
  }

  /** Returns false when there was no such key. */
  async delete(client: string, provider: string): Promise<boolean> {
    const which = { app: KEYS_APP, name: provider };
    return (await this.parts.secretStore.deleteSecrets(this.#holderOf(client), which)) > 0;
  }

  /**
   * Decrypts a client's key for the model requests of its turn. Undefined: the client has none, and the configured key
   * applies.
   * @throws RigError for a key that can no longer be decrypted: the configured key never takes its place
   */
  async keyFor(client: string, provider: string): Promise<string | undefined> {
    const holder = this.#holderOf(client);
    const rows = await this.parts.secretStore.readSecrets(holder, KEYS_APP);
    const row = rows.find(({ name }) => name === provider);
    if (row === undefined) return undefined;
    this.#use.note(holder);
    const stored = this.#open(holder, row);
    if (stored !== undefined) return stored.key;
    const message = `Your key for ${provider} can no longer be opened. Store it again, or delete it to use the service's own.`;
    throw new RigError(message, { retryable: false });
  }

  /**
   * Returns the client under which the store holds a client's keys. Another one than that of its secrets, so that
   * lists, deletions and limits of secrets leave keys alone.
   */
  #holderOf(client: string): string {
    return this.parts.digests.sha256(JSON.stringify([KEYS_APP, client]));
  }

  /** Undefined: the value cannot be decrypted. */
  #open(holder: string, row: SealedSecret): StoredKey | undefined {
    try {
      const text = this.parts.sealer.open(row, sealContext(holder, KEYS_APP, row.name));
      const value: unknown = JSON.parse(text);
      if (!isJsonObject(value) || typeof value.key !== 'string') return undefined;
      return { key: value.key, label: typeof value.label === 'string' ? value.label : null };
    } catch {
      return undefined;
    }
  }
}

function describe(provider: string, stored: StoredKey | undefined): ProviderKey {
  const key = stored?.key ?? '';
  const shown = Math.min(MAX_PREFIX, Math.floor(key.length / 3));
  return {
    provider,
    keyPrefix: key.slice(0, shown),
    label: stored?.label ?? null,
    isActive: stored !== undefined,
  };
}

function checkedProvider(given: string): string {
  const provider = KEY_PROVIDERS.find((known) => known === given);
  if (provider === undefined) throw bad('provider', `must be one of ${KEY_PROVIDERS.join(', ')}`);
  return provider;
}

/** Keys travel in headers: printable ASCII. White space around a pasted key is removed. */
function checkedKey(given: string): string {
  const key = given.trim();
  if (key.length >= MIN_KEY && key.length <= MAX_KEY && /^[\x21-\x7e]+$/.test(key)) return key;
  throw bad(
    'api_key',
    `must have ${String(MIN_KEY)} to ${String(MAX_KEY)} printable ASCII characters without blanks`,
  );
}

function checkedLabel(given: string | undefined): string | null {
  const label = given?.trim() ?? '';
  if (label === '') return null;
  if (label.length <= MAX_LABEL && label.isWellFormed() && !/\p{Cc}/u.test(label)) return label;
  throw bad('label', `must have at most ${String(MAX_LABEL)} characters, none of them a control character`);
}

function bad(path: string, message: string): RefusedError {
  return new RefusedError('invalid', `${path} ${message}`, [{ path, message }]);
}
