import type { SealedSecret, Sealer, SecretStore } from '../ports/secret-store.js';
import { sealContext } from './secrets.js';

/** How many values are re-encrypted concurrently, so that a running service is not slowed down. */
const BATCH = 200;

/** The outcome of a rotation. */
export interface Rotated {
  /** How many values this run has re-encrypted with the newest key. */
  readonly rotated: number;
  /** Values that no configured key can decrypt. They stay unchanged. */
  readonly unopened: readonly Pick<SealedSecret, 'app' | 'name' | 'keyId'>[];
}

/**
 * Re-encrypts every value that is not sealed with the sealer's newest key. Safe to run next to the service and
 * concurrently with itself: each write is a compare-and-set, so no newer value is overwritten. The next run continues
 * where an aborted one stopped.
 * @param signal stops the rotation after the current batch
 * @param onProgress receives the number of re-encrypted values after each batch
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
    // Every page contains the values that cannot be decrypted again, so it must be large enough for others as well.
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
    // False if the value was changed or removed since it was read. If it still has an old key, the next page has it.
    return store.resealSecret(client, from, { ...from, ...sealer.seal(value, context) });
  }
}

/** Returns the ids of keys that stored values need and that are not configured. Reads no values. */
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
