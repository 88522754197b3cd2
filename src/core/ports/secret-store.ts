/** A value as it is kept: encrypted, with the id of the key that opens it. */
export interface SealedSecret {
  readonly app: string;
  readonly name: string;
  readonly keyId: string;
  /** Base64. */
  readonly sealed: string;
}

/** What a row takes beside its text, about: a secret counts for as much more than for its name and its sealed value. */
const ROW_BYTES = 200;

/** How many bytes a secret counts for. Names and sealed values are ASCII. */
export function secretBytes({ name, sealed }: Pick<SealedSecret, 'name' | 'sealed'>): number {
  return ROW_BYTES + name.length + sealed.length;
}

/**
 * How much may be kept: secrets of one client in one App, bytes of one client, and bytes of one App, see `secretBytes`.
 */
export interface SecretBounds {
  readonly names: number;
  readonly client: number;
  readonly app: number;
}

/** What came of storing secrets: `stored`, or the bound that they would exceed, and then nothing was written. */
export type StoredSecrets = 'stored' | keyof SecretBounds;

/** A secret by its place, and how many bytes it counts for. */
export type SecretSize = Pick<SealedSecret, 'app' | 'name'> & { readonly bytes: number };

/**
 * Decides for a store whether secrets of a client may be stored. Values in the place of larger ones are, however much
 * is kept by now.
 * @param kept all secrets of the client
 * @param appBytes how much is kept of an App
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

/** How much is kept of an App. */
export interface SecretTotal {
  readonly app: string;
  readonly secrets: number;
  readonly bytes: number;
}

/** What is kept of a client, without a name or a value. Times are in milliseconds since the epoch. */
export interface SecretClient {
  /** The digest of its id. */
  readonly client: string;
  readonly secrets: number;
  readonly bytes: number;
  /** When it last stored one. */
  readonly storedAt: number;
  /** When a session last used one, to the day; null: never. */
  readonly usedAt: number | null;
}

/** Where sealed secrets are kept. `client` is the digest of a client's id. */
export interface SecretStore {
  /**
   * Stores values, over those of the same App and name, unless they exceed a bound: however many are stored at the same
   * time.
   */
  putSecrets(
    client: string,
    secrets: readonly SealedSecret[],
    bounds: SecretBounds,
    at: number,
  ): Promise<StoredSecrets>;
  /**
   * Notes that a session has used secrets of a client at a time, where the last use noted is from before `notedBefore`.
   */
  noteSecretUse(client: string, at: number, notedBefore: number): Promise<void>;
  /** How much is kept of each App that has any, by App. Cheap. */
  secretTotals(): Promise<readonly SecretTotal[]>;
  /**
   * The clients, those first whose secrets were not stored or used for longest, at most `limit`. Reads all secrets'
   * sizes: not for a request.
   */
  listSecretClients(limit: number): Promise<readonly SecretClient[]>;
  /** Removes secrets that were neither stored nor used since a time, at most `limit`. Returns how many. */
  pruneSecrets(before: number, limit: number): Promise<number>;
  /** A client's values, of one App or (null) of all, by App and name. */
  readSecrets(client: string, app: string | null): Promise<SealedSecret[]>;
  /** Removes a client's values; null: whatever the App, or the name. Returns how many there were. */
  deleteSecrets(
    client: string,
    which: { readonly app: string | null; readonly name: string | null },
  ): Promise<number>;
  /** The ids of the keys that values are sealed under, each once, in order. Reads no value. */
  secretKeyIds(): Promise<string[]>;
  /** Some values that another key than this one has sealed, with their clients. */
  readSecretsNotUnder(keyId: string, limit: number): Promise<(SealedSecret & { readonly client: string })[]>;
  /** Replaces a value if it is still the very one that was read. False: it was changed meanwhile. */
  resealSecret(client: string, from: SealedSecret, to: SealedSecret): Promise<boolean>;
}

/** Seals and opens values. `context` binds a value to its place: with another one it does not open. */
export interface Sealer {
  /** The key that new values are sealed under. */
  readonly keyId: string;
  /** The keys that it can open values of. */
  readonly keyIds: readonly string[];
  seal(value: string, context: string): Pick<SealedSecret, 'keyId' | 'sealed'>;
  /** @throws Error when the key is unknown, the value was tampered with, or the context is another */
  open(secret: Pick<SealedSecret, 'keyId' | 'sealed'>, context: string): string;
}
