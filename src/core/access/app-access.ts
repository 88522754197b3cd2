import { DEFAULT_APP, type App } from '../model/app.js';
import { hasKeyForm, isInForce } from './app-keys.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import { NoKeyError, RefusedError } from '../model/refusal.js';
import type { StoredKey } from '../ports/store.js';

/** How long a key lookup is cached, in milliseconds. A revocation by another process takes effect after that. */
const LOOKUP_MS = 2_000;
/** Upper bound of the lookup cache, so that requests with invented keys cannot exhaust memory. */
const MAX_LOOKUPS = 1_000;

/** Authorizes access to Apps by App key. The only such check: every code path that targets an App uses it. */
export interface Access {
  /**
   * Returns the App if the key authorizes it. `default` needs no key; a key sent with it is ignored.
   * @throws RefusedError `unauthenticated` without a valid key; `forbidden` when the key does not cover the App, or
   * covers it and the App is not configured. The message reveals only to the holder of a key for a name whether the App
   * is configured
   */
  authorize(app: string, key: string | undefined): Promise<App>;
  /** Returns the id of the key that authorized the App; null for `default`. Call it after `authorize`. */
  keyIdFor(app: App, key: string | undefined): Promise<string | null>;
  /** Returns the id of a key if the key is valid; null otherwise. Never throws RefusedError. */
  keyId(key: string | undefined): Promise<string | null>;
  /**
   * Lists `default`, then the Apps that the key authorizes, in the order of the configuration.
   * @throws RefusedError `unauthenticated` for an invalid key, or for a missing one if `keyRequired`
   */
  listAuthorized(
    key: string | undefined,
    options: { readonly keyRequired: boolean },
  ): Promise<readonly App[]>;
  /** Clears the lookup cache. To be called when this process has changed a key. */
  forgetKeys(): void;
}

/** The dependencies of `createAccess`. */
export interface AccessParts {
  /** All Apps, including `default`. */
  readonly apps: readonly App[];
  /** Finds a key by its digest. */
  readonly findKey: (digest: string) => Promise<StoredKey | undefined>;
  readonly digests: Digests;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

export function createAccess({ apps, findKey, digests, clock }: AccessParts): Access {
  const byName = new Map(apps.map((app) => [app.name, app]));
  /** Oldest first. Includes pending lookups, so that a burst of requests queries the store once. */
  const lookups = new Map<string, { readonly at: number; readonly found: Promise<StoredKey | undefined> }>();

  return {
    async authorize(name, key) {
      if (name !== DEFAULT_APP) {
        if (isMissing(key))
          throw new NoKeyError(`The App ${JSON.stringify(name)} needs an App key, and none was sent`);
        const { apps: covered } = await requireValid(key);
        if (!covered.includes(name)) {
          throw new RefusedError(
            'forbidden',
            `The App key does not authorize the App ${JSON.stringify(name)}`,
          );
        }
      }
      const app = byName.get(name);
      if (app === undefined) {
        const message = `The App key authorizes the App ${JSON.stringify(name)}, which is not configured`;
        throw new RefusedError('forbidden', message);
      }
      return app;
    },

    async keyIdFor(app, key) {
      return app.name === DEFAULT_APP || isMissing(key) ? null : (await requireValid(key)).id;
    },

    async keyId(key) {
      if (isMissing(key)) return null;
      const found = await requireValid(key).catch((error: unknown) => {
        if (error instanceof RefusedError) return null;
        throw error;
      });
      return found?.id ?? null;
    },

    async listAuthorized(key, { keyRequired }) {
      if (isMissing(key) && keyRequired) throw new NoKeyError('An App key is needed here, and none was sent');
      const covered = isMissing(key) ? [] : (await requireValid(key)).apps;
      const open = apps.filter(({ name }) => name === DEFAULT_APP);
      return [...open, ...apps.filter(({ name }) => name !== DEFAULT_APP && covered.includes(name))];
    },

    forgetKeys() {
      lookups.clear();
    },
  };

  /** @throws RefusedError `unauthenticated` if the key is malformed, unknown, revoked or expired */
  async function requireValid(key: string): Promise<StoredKey> {
    if (hasKeyForm(key)) {
      const digest = digests.sha256(key);
      const stored = await lookUp(digest);
      if (stored !== undefined && digests.equal(stored.digest, digest) && isInForce(stored, clock.now())) {
        return stored;
      }
    }
    throw new RefusedError(
      'unauthenticated',
      'The App key is not valid: it is unknown, was revoked, or has expired',
    );
  }

  function lookUp(digest: string): Promise<StoredKey | undefined> {
    const at = clock.monotonic();
    const known = lookups.get(digest);
    if (known !== undefined && at - known.at < LOOKUP_MS) return known.found;
    const lookup = { at, found: findKey(digest) };
    lookups.delete(digest);
    lookups.set(digest, lookup);
    const [oldest] = lookups.keys();
    if (lookups.size > MAX_LOOKUPS && oldest !== undefined) lookups.delete(oldest);
    lookup.found.catch(() => {
      // The callers that await the lookup get its error. The next request looks the key up again.
      if (lookups.get(digest) === lookup) lookups.delete(digest);
    });
    return lookup.found;
  }
}

function isMissing(key: string | undefined): key is undefined | '' {
  return key === undefined || key.trim() === '';
}
