import type { SealedSecret, Sealer, SecretStore } from '../ports/secret-store.js';
import { sealContext } from './secrets.js';

/** How many values are read and written at once, so that a running service is never held up. */
const BATCH = 200;

/** Where a rotation has come. */
export interface Rotated {
  /** How many values are now under the newest key that were not before. */
  readonly rotated: number;
  /** Values that no configured key opens. They are left as they are. */
  readonly unopened: readonly Pick<SealedSecret, 'app' | 'name' | 'keyId'>[];
}

/**
 * Seals every value anew that is not under the sealer's newest key. It may run beside the service and beside itself: a
 * value is replaced only while it is still the one that was read, so that nothing stored meanwhile is lost, and
 * whatever is left when it stops is found by the next run.
 * @param signal stops it after the batch in hand
 * @param onProgress is told how many are done, after each batch
 */
export async function rotateSecrets(
  parts: {
    readonly store: Pick<SecretStore, 'readSecretsNotUnder' | 'resealSecret'>;
    readonly sealer: Sealer;
  },
  signal: AbortSignal,
  onProgress: (rotated: number) => void = () => undefined,
): Promise<Rotated> {
  const { store, sealer } = parts;
  const stuck = new Map<string, SealedSecret>();
  let rotated = 0;
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    // What is stuck is read again each time, so the page grows with it: twice as large, it always has room for others.
    const page = await store.readSecretsNotUnder(sealer.keyId, 2 * stuck.size + BATCH);
    const fresh = page.filter((row) => stuck.get(placeOf(row))?.sealed !== row.sealed);
    if (fresh.length === 0) break;
    for (let at = 0; at < fresh.length && !isStopped(); at += BATCH) {
      const outcomes = await Promise.all(fresh.slice(at, at + BATCH).map(reseal));
      rotated += outcomes.filter((isDone) => isDone).length;
      onProgress(rotated);
    }
  }
  return { rotated, unopened: [...stuck.values()].map(({ app, name, keyId }) => ({ app, name, keyId })) };

  async function reseal({ client, ...from }: SealedSecret & { readonly client: string }): Promise<boolean> {
    const context = sealContext(client, from.app, from.name);
    let value: string;
    try {
      value = sealer.open(from, context);
    } catch {
      stuck.set(placeOf({ ...from, client }), from);
      return false;
    }
    stuck.delete(placeOf({ ...from, client }));
    // False: changed or removed meanwhile. If another key has sealed it again, the next page has it.
    return store.resealSecret(client, from, { ...from, ...sealer.seal(value, context) });
  }
}

/** The ids of keys that stored values need and that are not configured. Reads no value. */
export async function missingKeys(
  store: Pick<SecretStore, 'secretKeyIds'>,
  sealer: Pick<Sealer, 'keyIds'>,
): Promise<readonly string[]> {
  return (await store.secretKeyIds()).filter((id) => !sealer.keyIds.includes(id));
}

function placeOf({
  client,
  app,
  name,
}: Pick<SealedSecret, 'app' | 'name'> & { readonly client: string }): string {
  return sealContext(client, app, name);
}
