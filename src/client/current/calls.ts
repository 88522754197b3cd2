import { deliver } from '../delivery.js';
import { isObject, objectsIn, present, textOf, textOrNull, textsIn } from '../json.js';
import { lastPage } from '../last-page.js';
import { messagesOf, ordinalOf } from '../messages.js';
import { pendingRequests, type PendingRequest } from '../pending.js';
import { historyPageOf } from './history.js';
import type {
  AppDetails,
  AppSecret,
  Client,
  ClientOptions,
  HistoryPage,
  JsonObject,
  JsonValue,
  RigDetails,
  SendOptions,
  SessionState,
  ThreadSummary,
  WalletProof,
  WalletReport,
  WireEvent,
} from '../types.js';
import { callsBelow, type Answer, type Wire } from '../wire.js';

/** A state with its cursor and entity tag. */
export interface Snapshot {
  readonly state: SessionState;
  /** The id of the newest event that the state includes. */
  readonly cursor: number;
  readonly etag: string | null;
}

/** The result of sending a message, once the service has stored it. */
export interface Sent {
  /** The id of its turn; null if a proxy has removed it. */
  readonly turnId: string | null;
  /** The number of its turn in the thread. */
  readonly ordinal: number | undefined;
  /** True if an earlier attempt may have stored it. */
  readonly repeated: boolean;
}

/** Number of stored messages to search for a turn. */
export const RECENT = 200;

const call = callsBelow('/current/api');

/** The requests of the current surface. */
export class CurrentCalls {
  constructor(
    private readonly wire: Wire,
    private readonly options: Pick<ClientOptions, 'app' | 'key' | 'clientId' | 'walletProof'>,
  ) {}

  async create(wallet?: string): Promise<ThreadSummary> {
    const body = present({ public_key: wallet });
    const headers = this.#proofHeader(wallet);
    const answer = await this.wire.askObject(call('POST', '/sessions', { headers, body }));
    return threadOf(answer.body);
  }

  /** Returns undefined when nothing has changed since the state with this tag. */
  async snapshot(etag: string | null, signal: AbortSignal): Promise<Snapshot | undefined> {
    const headers = { 'If-None-Match': etag ?? undefined };
    const query = { client_id: this.options.clientId };
    const answer = await this.wire.ask(call('GET', '/state', { headers, query, signal }));
    return answer.body === undefined ? undefined : snapshotOf(answer);
  }

  /** @param patch changes of the user state, which the service applies first */
  async state(signal?: AbortSignal, patch?: JsonObject): Promise<SessionState> {
    const query = { user_state: patch && JSON.stringify(patch), client_id: this.options.clientId };
    return snapshotOf(await this.wire.ask(call('GET', '/state', { query, signal }))).state;
  }

  async interrupt(): Promise<SessionState> {
    return snapshotOf(await this.wire.ask(call('POST', '/interrupt'))).state;
  }

  /** Sends a message, with retries until it is accepted. */
  async send(
    text: string,
    idempotencyKey: string,
    { wallet, userState, signal }: SendOptions,
  ): Promise<Sent> {
    const { app, clientId } = this.options;
    const body = present<JsonValue>({
      message: text,
      app,
      public_key: wallet,
      user_state: userState,
      client_id: clientId,
    });
    const headers = { 'Idempotency-Key': idempotencyKey, ...this.#keyHeader(), ...this.#proofHeader(wallet) };
    const { answer, repeated } = await deliver(this.wire, signal, async (either, isRepeat) => ({
      answer: await this.wire.ask(call('POST', '/chat', { headers, body, signal: either })),
      repeated: isRepeat,
    }));
    // The state in the response to a repeat may contain the same text once more, from another client.
    const ordinal = repeated || !isObject(answer.body) ? undefined : ordinalOf(messagesOf(answer.body), text);
    return { turnId: answer.headers.get('x-turn-id'), ordinal, repeated };
  }

  /**
   * Opens the stream of updates.
   * @param cursor the id of the last known event
   */
  updates(cursor: number, signal: AbortSignal): Promise<AsyncGenerator<WireEvent, void, undefined>> {
    const headers = { 'Last-Event-ID': String(cursor) };
    return this.wire.stream(call('GET', '/updates', { query: { include: 'turns' }, headers, signal }));
  }

  async threads(wallet: string): Promise<readonly ThreadSummary[]> {
    const query = { public_key: wallet };
    const { body } = await this.wire.ask(
      call('GET', '/sessions', { query, headers: this.#proofHeader(wallet) }),
    );
    return objectsIn(body).map(threadOf);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.wire.ask(call('PATCH', `/sessions/${encodeURIComponent(sessionId)}`, { body: { title } }));
  }

  async archive(sessionId: string, archived: boolean): Promise<void> {
    const action = archived ? 'archive' : 'unarchive';
    await this.wire.ask(call('POST', `/sessions/${encodeURIComponent(sessionId)}/${action}`));
  }

  async delete(sessionId: string): Promise<void> {
    await this.wire.ask(call('DELETE', `/sessions/${encodeURIComponent(sessionId)}`));
  }

  /** Branches the thread of the session, with retries until the branch is created once. */
  async branch(before: string | undefined, idempotencyKey: string): Promise<ThreadSummary> {
    const headers = { 'Idempotency-Key': idempotencyKey, 'X-Wallet-Proof': this.options.walletProof?.() };
    const path = `/sessions/${this.wire.sessionId}/branch`;
    const body = present({ before });
    const answer = await deliver(this.wire, undefined, (signal) =>
      this.wire.askObject(call('POST', path, { headers, body, signal })),
    );
    return threadOf(answer.body);
  }

  async historyPage({ limit, before, signal }: Parameters<Client['historyPage']>[0]): Promise<HistoryPage> {
    const query = { limit: String(limit), before, include: 'turns' };
    const path = `/sessions/${this.wire.sessionId}/messages`;
    return historyPageOf((await this.wire.askObject(call('GET', path, { query, signal }))).body);
  }

  /** Reads the last stored messages and their turns. */
  recent(signal: AbortSignal): Promise<HistoryPage> {
    return lastPage(this, RECENT, signal);
  }

  async appDetails(): Promise<readonly AppDetails[]> {
    const headers = { 'SERVICE-APP-KEY': this.options.key };
    const { body } = await this.wire.ask(call('GET', '/control/apps', { headers }));
    return objectsIn(body).map((app) => ({
      name: textOf(app, 'name'),
      secrets: objectsIn(app.secrets).map((slot) => ({
        ...{ name: textOf(slot, 'name'), description: textOf(slot, 'description') },
        required: slot.required === true,
      })),
      prompts: Array.isArray(app.prompts) ? textsIn(app.prompts) : null,
    }));
  }

  async rigDetails(): Promise<readonly RigDetails[]> {
    const query = { app: this.options.app, include: 'names' };
    const { body } = await this.wire.ask(
      call('GET', '/control/models', { query, headers: this.#keyHeader() }),
    );
    return objectsIn(body).map((rig) => ({ id: textOf(rig, 'id'), name: textOf(rig, 'name') }));
  }

  async storedSecrets(clientId: string, app: string): Promise<readonly string[]> {
    const { body } = await this.wire.askObject(call('GET', '/secrets', { query: { client_id: clientId } }));
    return textsIn(isObject(body.by_app) ? body.by_app[app] : undefined);
  }

  async storeSecret(clientId: string, { app, name, value }: AppSecret): Promise<void> {
    const body = { client_id: clientId, app, secrets: { [name]: value } };
    const headers = { 'SERVICE-APP-KEY': this.options.key };
    await this.wire.ask(call('POST', '/secrets', { headers, body }));
  }

  async deleteSecret(clientId: string, { app, name }: Omit<AppSecret, 'value'>): Promise<void> {
    const query = { client_id: clientId, app };
    await this.wire.ask(call('DELETE', `/secrets/${encodeURIComponent(name)}`, { query }));
  }

  async selectRig(rig: string): Promise<void> {
    const query = { rig, app: this.options.app };
    await this.wire.ask(call('POST', '/control/model', { query, headers: this.#keyHeader() }));
  }

  async pending(): Promise<readonly PendingRequest[]> {
    const { body } = await this.wire.askObject(call('GET', '/state', { query: { tail: '0' } }));
    return pendingRequests(isObject(body.user_state) ? body.user_state : null);
  }

  async reportSystem(report: WalletReport): Promise<void> {
    await this.wire.ask(call('POST', '/system', { body: { message: JSON.stringify(report) } }));
  }

  async walletNonce(): Promise<string> {
    const { body } = await this.wire.askObject(call('GET', '/wallet/nonce'));
    return textOf(body, 'nonce');
  }

  async proveWallet(message: string, signature: string): Promise<WalletProof> {
    const { body } = await this.wire.askObject(
      call('POST', '/wallet/proof', { body: { message, signature } }),
    );
    return {
      ...{ proof: textOf(body, 'proof'), wallet: textOf(body, 'public_key') },
      expiresAt: textOf(body, 'expires_at'),
    };
  }

  /** Returns the header of requests that name a wallet. */
  #proofHeader(wallet: string | undefined): { 'X-Wallet-Proof': string | undefined } {
    return { 'X-Wallet-Proof': wallet === undefined ? undefined : this.options.walletProof?.() };
  }

  #keyHeader(): { 'SERVICE-APP-KEY': string | undefined } {
    return { 'SERVICE-APP-KEY': this.options.app === undefined ? undefined : this.options.key };
  }
}

function snapshotOf({ headers, body }: Answer): Snapshot {
  const raw = isObject(body) ? body : {};
  const errors = objectsIn(raw.system_events).flatMap((event) => textOf(event, 'SystemError') || []);
  const state: SessionState = {
    title: textOrNull(raw.title),
    status: raw.is_processing === true ? 'processing' : 'idle',
    messages: messagesOf(raw),
    userState: isObject(raw.user_state) ? raw.user_state : null,
    errors,
    raw,
  };
  return { state, cursor: Number(headers.get('x-event-cursor') ?? 0), etag: headers.get('etag') };
}

function threadOf(body: JsonObject): ThreadSummary {
  return { sessionId: textOf(body, 'session_id'), title: textOf(body, 'title') };
}
