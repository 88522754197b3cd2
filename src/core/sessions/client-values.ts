import type { KeyOwner, ProviderKey, ProviderKeys } from '../access/provider-keys.js';
import { isLongId, requireLongId, type Secrets, type SecretValues } from '../access/secrets.js';
import { RefusedError } from '../model/refusal.js';
import type { SessionRef } from '../model/session.js';
import type { SessionCache } from './session-cache.js';
import type { Sessions } from './sessions.js';

/** The dependencies of `ClientValues`. */
export interface ClientValuesParts {
  readonly secrets: Secrets;
  readonly providerKeys: ProviderKeys;
  readonly threads: SessionCache;
}

/** Stores, lists and deletes what clients entrust to the service, and binds sessions to clients. */
export class ClientValues {
  constructor(
    private readonly parts: ClientValuesParts,
    private readonly sessions: Sessions,
  ) {}

  async storeSecrets({
    session,
    ...values
  }: SecretValues & { readonly session: SessionRef | undefined }): Promise<Readonly<Record<string, string>>> {
    const handles = await this.parts.secrets.store(values);
    if (session !== undefined) await this.bind(session, values.clientId);
    return handles;
  }

  /**
   * Binds a session to a client. An id that nothing can be stored under binds nothing: a session that is bound to an id
   * which others can guess would share with them what it stores.
   */
  async bind(session: SessionRef, clientId: string): Promise<void> {
    if (isLongId(clientId)) await this.sessions.bindClient(session, this.parts.secrets.clientOf(clientId));
  }

  async listSecrets(owner: KeyOwner): Promise<Readonly<Record<string, readonly string[]>>> {
    const client = await this.#find(owner);
    return client === null ? {} : this.parts.secrets.names(client);
  }

  deleteSecrets(clientId: string, which: { app: string | null; name: string | null }): Promise<number> {
    const { secrets } = this.parts;
    return secrets.delete(secrets.clientOf(clientId), which);
  }

  async listKeys(owner: KeyOwner): Promise<readonly ProviderKey[]> {
    return this.parts.providerKeys.list(await this.#require(owner));
  }

  async storeKey(
    owner: KeyOwner,
    key: { readonly provider: string; readonly apiKey: string; readonly label: string | undefined },
  ): Promise<ProviderKey> {
    const { clientId, sessionId } = owner;
    if (isNamed(clientId)) requireLongId(clientId);
    const stored = await this.parts.providerKeys.store(await this.#require(owner), key);
    if (isNamed(clientId) && sessionId !== undefined) {
      await this.bind({ id: sessionId, ifUnknown: 'create' }, clientId);
    }
    return stored;
  }

  async deleteKey(owner: KeyOwner, provider: string): Promise<boolean> {
    return this.parts.providerKeys.delete(await this.#require(owner), provider);
  }

  /** Returns the digest of the client's id; null: the owner names no client. */
  async #find({ clientId, sessionId }: KeyOwner): Promise<string | null> {
    if (isNamed(clientId)) return this.parts.secrets.clientOf(clientId);
    if (sessionId === undefined) return null;
    return (await this.parts.threads.findSession(sessionId))?.client ?? null;
  }

  async #require(owner: KeyOwner): Promise<string> {
    const client = await this.#find(owner);
    if (client !== null) return client;
    const message =
      'client_id is required: the client that the keys belong to, or a session that is bound to one';
    throw new RefusedError('invalid', message, [{ path: 'client_id', message }]);
  }
}

function isNamed(clientId: string | undefined): clientId is string {
  return clientId !== undefined && clientId !== '';
}
