import {
  boundOf,
  secretBytes,
  type SealedSecret,
  type SecretBounds,
  type SecretClient,
  type SecretStore,
  type SecretTotal,
  type StoredSecrets,
} from '../../../src/core/ports/secret-store.js';
import type { State } from './state.js';

type Which = Parameters<SecretStore['deleteSecrets']>[1];

/** See `SecretStore`. */
export function putSecrets(
  state: State,
  client: string,
  secrets: readonly SealedSecret[],
  { bounds, at }: { readonly bounds: SecretBounds; readonly at: number },
): StoredSecrets {
  const all = [...state.secrets.values()].map((secret) => ({ ...secret, bytes: secretBytes(secret) }));
  const outcome = boundOf(
    all.filter((secret) => secret.client === client),
    secrets,
    bounds,
    (app) => all.reduce((sum, secret) => sum + (secret.app === app ? secret.bytes : 0), 0),
  );
  if (outcome !== 'stored') return outcome;
  for (const secret of secrets) {
    const key = JSON.stringify([client, secret.app, secret.name]);
    const usedAt = state.secrets.get(key)?.usedAt ?? 0;
    state.secrets.set(key, { ...secret, client, createdAt: at, usedAt });
  }
  return outcome;
}

/** See `SecretStore`. */
export function noteSecretUse(state: State, client: string, at: number, notedBefore: number): void {
  for (const [key, secret] of state.secrets) {
    if (secret.client === client && secret.usedAt < notedBefore) {
      state.secrets.set(key, { ...secret, usedAt: at });
    }
  }
}

/** See `SecretStore`. */
export function secretTotals(state: State): SecretTotal[] {
  const totals = new Map<string, SecretTotal>();
  for (const secret of state.secrets.values()) {
    const { secrets, bytes } = totals.get(secret.app) ?? { secrets: 0, bytes: 0 };
    totals.set(secret.app, { app: secret.app, secrets: secrets + 1, bytes: bytes + secretBytes(secret) });
  }
  return [...totals.values()].sort((a, b) => (a.app < b.app ? -1 : 1));
}

/** See `SecretStore`. */
export function listSecretClients(state: State, limit: number): SecretClient[] {
  const clients = new Map<string, SecretClient>();
  for (const secret of state.secrets.values()) {
    const { client, createdAt, usedAt } = secret;
    const known = clients.get(client) ?? { client, secrets: 0, bytes: 0, storedAt: 0, usedAt: null };
    clients.set(client, {
      client,
      secrets: known.secrets + 1,
      bytes: known.bytes + secretBytes(secret),
      storedAt: Math.max(known.storedAt, createdAt),
      usedAt: Math.max(known.usedAt ?? 0, usedAt) || null,
    });
  }
  const idleSince = ({ storedAt, usedAt }: SecretClient) => Math.max(storedAt, usedAt ?? 0);
  return [...clients.values()]
    .sort((a, b) => idleSince(a) - idleSince(b) || (a.client < b.client ? -1 : 1))
    .slice(0, limit);
}

/** See `SecretStore`. */
export function pruneSecrets(state: State, before: number, limit: number): number {
  const idle = [...state.secrets].filter(([, secret]) => Math.max(secret.createdAt, secret.usedAt) < before);
  for (const [key] of idle.slice(0, limit)) state.secrets.delete(key);
  return Math.min(idle.length, limit);
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
