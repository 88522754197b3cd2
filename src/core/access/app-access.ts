import { DEFAULT_APP, type App } from '../model/app.js';
import { hasKeyForm, isInForce } from './app-keys.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import { RefusedError } from '../model/refusal.js';
import type { StoredKey } from '../ports/store.js';

/** How long a looked-up key is believed: a revocation by another process holds after that. */
const LOOKUP_MS = 2_000;
/** How many lookups are remembered, so that made-up keys cannot fill the memory. */
const MAX_LOOKUPS = 1_000;

/** The one decision about App keys. Every path that targets an App asks it, whatever the surface or header. */
export interface Access {
  /**
   * The App, if the key opens it. `default` needs no key, and a key given for it is not looked at.
   * @throws RefusedError `unauthenticated` without a key that holds; `forbidden` when the key does not cover the App or
   * there is no such App, in the same words, so that a holder of some key cannot probe for names
   */
  authorize(app: string, key: string | undefined): Promise<App>;
  /**
   * The id of the key that opened the App; null where none was needed. Ask after `authorize`.
   */
  keyIdFor(app: App, key: string | undefined): Promise<string | null>;
  /** The id of a key if it holds; null otherwise. Never refuses. */
  keyId(key: string | undefined): Promise<string | null>;
  /**
   * `default`, then what the key authorizes, in the order of the configuration.
   * @throws RefusedError `unauthenticated` for a key that does not hold, or with `keyRequired` for none
   */
  listAuthorized(
    key: string | undefined,
    options: { readonly keyRequired: boolean },
  ): Promise<readonly App[]>;
  /** Looks every key up anew from now on: one was changed by this process. */
  forgetKeys(): void;
}

/** What the decision rests on. */
export interface AccessParts {
  /** All Apps; `default` is among them. */
  readonly apps: readonly App[];
  /** Finds a key by its digest. */
  readonly findKey: (digest: string) => Promise<StoredKey | undefined>;
  readonly digests: Digests;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Puts the decision about App keys together. */
export function createAccess({ apps, findKey, digests, clock }: AccessParts): Access {
  const byName = new Map(apps.map((app) => [app.name, app]));
  /** Oldest first. Lookups under way are in it too, so that a burst asks the store once. */
  const lookups = new Map<string, { readonly at: number; readonly found: Promise<StoredKey | undefined> }>();

  return {
    async authorize(name, key) {
      if (name !== DEFAULT_APP) {
        if (isMissing(key))
          throw noKey(`The App ${JSON.stringify(name)} needs an App key, and none was sent`);
        const { apps: covered } = await holding(key);
        if (!covered.includes(name)) throw notCovered(name);
      }
      const app = byName.get(name);
      if (app === undefined) throw notCovered(name);
      return app;
    },

    async keyIdFor(app, key) {
      return app.name === DEFAULT_APP || isMissing(key) ? null : (await holding(key)).id;
    },

    async keyId(key) {
      if (isMissing(key)) return null;
      const found = await holding(key).catch((error: unknown) => {
        if (error instanceof RefusedError) return null;
        throw error;
      });
      return found?.id ?? null;
    },

    async listAuthorized(key, { keyRequired }) {
      if (isMissing(key) && keyRequired) throw noKey('An App key is needed here, and none was sent');
      const covered = isMissing(key) ? [] : (await holding(key)).apps;
      const open = apps.filter(({ name }) => name === DEFAULT_APP);
      return [...open, ...apps.filter(({ name }) => name !== DEFAULT_APP && covered.includes(name))];
    },

    forgetKeys() {
      lookups.clear();
    },
  };

  /** The key's record, if it is a key, is known and holds now. */
  async function holding(key: string): Promise<StoredKey> {
    if (hasKeyForm(key)) {
      const digest = digests.sha256(key);
      const stored = await lookUp(digest);
      if (stored !== undefined && digests.equal(stored.digest, digest) && isInForce(stored, clock.now())) {
        return stored;
      }
    }
    throw noKey('The App key is not valid: it is unknown, was revoked, or has expired');
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
      // Whoever awaits it gets the error; the next request asks anew.
      if (lookups.get(digest) === lookup) lookups.delete(digest);
    });
    return lookup.found;
  }
}

function isMissing(key: string | undefined): key is undefined | '' {
  return key === undefined || key.trim() === '';
}

function noKey(message: string): RefusedError {
  return new RefusedError('unauthenticated', message);
}

function notCovered(name: string): RefusedError {
  return new RefusedError('forbidden', `The App key does not authorize the App ${JSON.stringify(name)}`);
}
