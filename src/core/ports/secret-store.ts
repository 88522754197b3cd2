/** An encrypted value, with the id of the key that decrypts it. */
export interface SealedSecret {
  readonly app: string;
  readonly name: string;
  readonly keyId: string;
  /** Base64. */
  readonly sealed: string;
}

/** The approximate overhead of a row, which counts in addition to the secret's name and sealed value. */
const ROW_BYTES = 200;

/** Returns how many bytes a secret counts for. Names and sealed values are ASCII, so length equals bytes. */
export function secretBytes({ name, sealed }: Pick<SealedSecret, 'name' | 'sealed'>): number {
  return ROW_BYTES + name.length + sealed.length;
}

/**
 * Storage limits: the number of secrets of one client in one App, the bytes of one client, and the bytes of one App
 * (see `secretBytes`).
 */
export interface SecretBounds {
  readonly names: number;
  readonly client: number;
  readonly app: number;
}

/** The result of storing secrets: `stored`, or the limit that they would exceed; then nothing was written. */
export type StoredSecrets = 'stored' | keyof SecretBounds;

/** The size of a secret, see `secretBytes`. */
export type SecretSize = Pick<SealedSecret, 'app' | 'name'> & { readonly bytes: number };

/**
 * Decides whether secrets of a client fit the limits. Values that do not increase the client's total size always fit
 * the byte limits, even if one is already exceeded.
 * @param kept all stored secrets of the client
 * @param appBytes returns the stored bytes of an App
 */
export function boundOf(
  kept: readonly SecretSize[],
  secrets: readonly SealedSecret[],
  bounds: SecretBounds,
  appBytes: (app: string) => number,
): StoredSecrets {
  const place = ({ app, name }: Pick<SealedSecret, 'app' | 'name'>) => JSON.stringify([app, name]);
  const after = new Map(kept.map((secret) => [place(secret), secret]));
  for (const secret of secrets) {
    after.set(place(secret), { app: secret.app, name: secret.name, bytes: secretBytes(secret) });
  }
  const sum = (list: Iterable<SecretSize>, app?: string) =>
    [...list].reduce((all, one) => all + (app === undefined || one.app === app ? one.bytes : 0), 0);
  const apps = [...new Set(secrets.map(({ app }) => app))];
  const names = apps.map((app) => [...after.values()].filter((secret) => secret.app === app).length);
  if (names.some((count) => count > bounds.names)) return 'names';
  const total = sum(after.values());
  if (total <= sum(kept)) return 'stored';
  if (total > bounds.client) return 'client';
  const grown = (app: string) => appBytes(app) + sum(after.values(), app) - sum(kept, app);
  return apps.some((app) => grown(app) > bounds.app) ? 'app' : 'stored';
}

/** The stored secrets of an App. */
export interface SecretTotal {
  readonly app: string;
  readonly secrets: number;
  readonly bytes: number;
}

/** The stored secrets of a client, without names and values. Times are in milliseconds since the epoch. */
export interface SecretClient {
  /** The digest of its id. */
  readonly client: string;
  readonly secrets: number;
  readonly bytes: number;
  /** When the client last stored a secret. */
  readonly storedAt: number;
  /** When a session last used a secret of the client, accurate to a day; null: never. */
  readonly usedAt: number | null;
}

/** Stores sealed secrets. `client` is the digest of a client's id. */
export interface SecretStore {
  /**
   * Stores values unless they exceed a limit. Replaces those with the same App and name. The limits also hold under
   * concurrent calls.
   */
  putSecrets(
    client: string,
    secrets: readonly SealedSecret[],
    bounds: SecretBounds,
    at: number,
  ): Promise<StoredSecrets>;
  /**
   * Records that a session used a client's secrets at a time, unless a use at or after `notedBefore` is recorded.
   */
  noteSecretUse(client: string, at: number, notedBefore: number): Promise<void>;
  /** Reads the totals of each App that has secrets, ordered by App. Cheap. */
  secretTotals(): Promise<readonly SecretTotal[]>;
  /**
   * Lists clients, least recently active first, at most `limit`. Reads the sizes of all secrets, so it is too slow for
   * a request.
   */
  listSecretClients(limit: number): Promise<readonly SecretClient[]>;
  /** Deletes secrets that were neither stored nor used since `before`, at most `limit`. Returns how many. */
  pruneSecrets(before: number, limit: number): Promise<number>;
  /** Reads a client's values, ordered by App and name. `app` null: of all Apps. */
  readSecrets(client: string, app: string | null): Promise<SealedSecret[]>;
  /** Deletes a client's values of an App and a name; null: any. Returns how many. */
  deleteSecrets(
    client: string,
    which: { readonly app: string | null; readonly name: string | null },
  ): Promise<number>;
  /** Reads the distinct ids of the keys that values are sealed with, in order. Reads no values. */
  secretKeyIds(): Promise<string[]>;
  /** Reads at most `limit` values that are sealed with another key than this one, with their clients. */
  readSecretsNotUnder(keyId: string, limit: number): Promise<(SealedSecret & { readonly client: string })[]>;
  /** Replaces a value if it is still equal to `from`. False: it was changed or removed since it was read. */
  resealSecret(client: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
}

/** Encrypts and decrypts values. `context` is authenticated: with another context a value cannot be decrypted. */
export interface Sealer {
  /** The id of the key that seals new values. */
  readonly keyId: string;
  /** The ids of the keys that can open values. */
  readonly keyIds: readonly string[];
  seal(value: string, context: string): Pick<SealedSecret, 'keyId' | 'sealed'>;
  /** @throws Error if the key is unknown, the value was tampered with, or the context differs */
  open(secret: Pick<SealedSecret, 'keyId' | 'sealed'>, context: string): string;
}
