import type { SealedSecret, SecretStore } from '../../core/secret-store.js';
import type { State } from './state.js';

type Which = Parameters<SecretStore['deleteSecrets']>[1];

/** See `SecretStore`. */
export function putSecrets(state: State, client: string, secrets: readonly SealedSecret[]): void {
  for (const secret of secrets) {
    state.secrets.set(JSON.stringify([client, secret.app, secret.name]), { ...secret, client });
  }
}

/** See `SecretStore`. */
export function readSecrets(state: State, client: string, app: string | null): SealedSecret[] {
  return [...state.secrets.entries()]
    .filter(([, secret]) => secret.client === client && (app === null || secret.app === app))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { app: of, name, keyId, sealed }]) => ({ app: of, name, keyId, sealed }));
}

/** See `SecretStore`. */
export function deleteSecrets(state: State, client: string, { app, name }: Which): number {
  const doomed = [...state.secrets.entries()].filter(
    ([, secret]) =>
      secret.client === client &&
      (app === null || secret.app === app) &&
      (name === null || secret.name === name),
  );
  for (const [key] of doomed) state.secrets.delete(key);
  return doomed.length;
}

/** See `SecretStore`. */
export function resealSecret(state: State, client: string, from: SealedSecret, to: SealedSecret): boolean {
  const key = JSON.stringify([client, from.app, from.name]);
  const kept = state.secrets.get(key);
  if (kept?.sealed !== from.sealed) return false;
  state.secrets.set(key, { ...kept, keyId: to.keyId, sealed: to.sealed });
  return true;
}
