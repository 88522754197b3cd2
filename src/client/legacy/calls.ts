import { ClientError, unsupported } from '../error.js';
import { isObject, objectsIn, textOf } from '../json.js';
import { messagesOf } from '../messages.js';
import type {
  ClientOptions,
  JsonObject,
  RigDetails,
  SessionState,
  ThreadSummary,
  WireEvent,
} from '../types.js';
import { callsBelow, type Wire } from '../wire.js';

const call = callsBelow('/legacy/api');
/** The App that exists in every deployment. */
const DEFAULT_APP = 'default';
/** A cursor ahead of all events: the service responds with a gap that contains the current position. */
const AHEAD = Number.MAX_SAFE_INTEGER;

/** The requests of the legacy surface. */
export class LegacyCalls {
  /** The last known title, which states do not contain; null: it must be read. */
  #title: string | null = null;
  /** How often the title was set or cleared. */
  #titleChanges = 0;
  /** The turns of this client that are not over. */
  readonly #turns = new Set<string>();

  constructor(
    private readonly wire: Wire,
    private readonly options: Pick<ClientOptions, 'app' | 'key' | 'clientId' | 'walletProof'>,
  ) {}

  async create(wallet?: string): Promise<ThreadSummary> {
    if (wallet !== undefined) throw unsupported('bind a wallet');
    await this.wire.ask(call('POST', '/sessions'));
    await this.#readTitle();
    return { sessionId: this.wire.sessionId, title: this.#title ?? '' };
  }

  /** True if a turn of this client is not over, also before its message is stored. */
  get areSending(): boolean {
    return this.#turns.size > 0;
  }

  /** Records that a message of this client will be sent. */
  sending(turnId: string): void {
    this.#turns.add(turnId);
  }

  /** Records that a turn of this client is over. */
  over(turnId: string): void {
    this.#turns.delete(turnId);
  }

  /** Reads the state; empty for an unknown session, which this surface creates with the first message. */
  async state(signal?: AbortSignal): Promise<SessionState> {
    if (this.#title === null) await this.#readTitle(signal);
    const query = { session_id: this.wire.sessionId };
    try {
      const { body } = await this.wire.askObject(call('GET', '/thread/state', { query, signal }));
      return stateOf(body, this.#title);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return stateOf({}, this.#title);
    }
  }

  /** Takes the title from an event; null: the last known one may be out of date. */
  noteTitle(title: string | null): void {
    this.#title = title;
    this.#titleChanges++;
  }

  /** Reads the title. Reads again if it changed during the request, because the response may be older. */
  async #readTitle(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const before = this.#titleChanges;
      const threads = await this.#ownThreads(signal);
      if (before !== this.#titleChanges) continue;
      this.#title = threads.find(({ id }) => id === this.wire.sessionId)?.title ?? this.#title;
      return;
    }
  }

  /** Cancels the running and queued turns, and returns the state. */
  async interrupt(): Promise<SessionState> {
    const query = { session_id: this.wire.sessionId };
    try {
      await this.wire.ask(call('POST', '/thread/interrupt', { query }));
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
    return this.state();
  }

  /** Opens the stream of a reply. A retry with the same key streams the same turn from its beginning. */
  chat(
    text: string,
    idempotencyKey: string,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<WireEvent, void, undefined>> {
    const { app, key, clientId } = this.options;
    const headers = { 'Idempotency-Key': idempotencyKey, 'X-API-Key': app === undefined ? undefined : key };
    const query = { app, client_id: clientId };
    return this.wire.stream(call('POST', '/thread/chat', { query, headers, body: { text }, signal }));
  }

  /**
   * Opens the stream of updates.
   * @param cursor the id of the last known event; absent: the stream begins with a gap
   */
  updates(
    cursor: number | undefined,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<WireEvent, void, undefined>> {
    const headers = { 'Last-Event-ID': String(cursor ?? AHEAD) };
    return this.wire.stream(call('GET', '/thread/updates', { headers, signal }));
  }

  /** Lists the threads of this session's wallet; the surface has no other list. */
  async threads(): Promise<readonly ThreadSummary[]> {
    const threads = [...(await this.#ownThreads())];
    threads.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
    return threads.map(({ id, title }) => ({ sessionId: id, title }));
  }

  /** Without a key, returns only the default App, because the surface would refuse the request. */
  async apps(): Promise<readonly string[]> {
    const { key } = this.options;
    if (key === undefined) return [DEFAULT_APP];
    const { body } = await this.wire.askObject(
      call('GET', '/session/apps', { headers: { 'X-API-Key': key } }),
    );
    return objectsIn(body.apps).map((app) => textOf(app, 'id'));
  }

  async rigDetails(): Promise<readonly RigDetails[]> {
    const { body } = await this.wire.askObject(call('GET', '/session/models'));
    return objectsIn(body.models).map((model) => ({ id: textOf(model, 'id'), name: textOf(model, 'name') }));
  }

  async selectRig(rig: string): Promise<void> {
    const query = { session_id: this.wire.sessionId };
    const select = call('POST', '/control/model', { query, body: { model: rig } });
    try {
      await this.wire.ask(select);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      await this.wire.ask(call('POST', '/sessions'));
      await this.wire.ask(select);
    }
  }

  async #ownThreads(
    signal?: AbortSignal,
  ): Promise<readonly { id: string; title: string; updatedAt: string }[]> {
    try {
      const headers = { 'X-Wallet-Proof': this.options.walletProof?.() };
      const path = `/sessions/${this.wire.sessionId}`;
      const { body } = await this.wire.askObject(call('GET', path, { headers, signal }));
      return objectsIn(body.threads).map((thread) => ({
        id: textOf(thread, 'id'),
        title: textOf(thread, 'title'),
        updatedAt: textOf(thread, 'updated_at'),
      }));
    } catch (error) {
      if (isUnknown(error)) return [];
      throw error;
    }
  }
}

/** True when the session does not exist yet. */
function isUnknown(error: unknown): boolean {
  return error instanceof ClientError && error.kind === 'refused' && error.status === 404;
}

function stateOf(raw: JsonObject, title: string | null): SessionState {
  const status = textOf(raw, 'status');
  return {
    title,
    status: status === 'processing' || status === 'interrupted' ? status : 'idle',
    messages: messagesOf(raw),
    userState: isObject(raw.user_state) ? raw.user_state : null,
    errors: [],
    raw,
  };
}
