import { ClientError } from '../../../client/error.js';
import { createClient } from '../../../client/index.js';
import type { Client, Exchange, JsonObject, WireEvent } from '../../../client/types.js';
import { Observable } from '../../parts/observable.js';
import { pendingRequests, type PendingRequest } from '../../../client/pending.js';
import { LiveView } from '../../../client/view/live-view.js';
import { pageFetch } from '../page-fetch.js';
import type { Settings } from '../settings.js';
import { reasonOf } from './user-words.js';
import { isReported, type WalletState } from './wallet-state.js';

/** The environment of a conversation. */
export interface Surroundings {
  /** The service's base URL. */
  readonly base: string;
  /** True when the current surface is exposed, which provides the history. */
  readonly hasHistory: boolean;
  readonly onExchange: (exchange: Exchange) => void;
  readonly onWireEvent: (event: WireEvent) => void;
  /** Returns the proof of the wallet in the settings. */
  readonly walletProof: () => string | undefined;
}

/** One session over one surface: its view and the user's actions. */
export class Conversation {
  readonly view: LiveView;
  /** The requests that wait for the person's wallet. */
  readonly pending = new Observable<readonly PendingRequest[]>([]);
  /** When a message is sent again that the service has deferred, in milliseconds since the epoch; null: none is. */
  readonly resendAt = new Observable<number | null>(null);
  /** The reason why the conversation cannot continue; null while it can. */
  readonly failure = new Observable<string | null>(null);
  /** True once the service has said that the session was deleted. */
  readonly isGone = new Observable(false);
  readonly client: Client;
  /**
   * The client that lists, renames and deletes threads, binds wallets and sets the user state; null if the current
   * surface is not exposed.
   */
  readonly keeper: Client | null;
  /** The messages that the service has not accepted yet. */
  readonly #sending = new Set<Promise<void>>();
  #boundWallet = '';

  constructor(settings: Settings, around: Surroundings) {
    const { surface, sessionId, app, key, clientId, walletUse } = settings;
    const { base, onWireEvent, walletProof } = around;
    const onExchange = (exchange: Exchange): void => {
      this.#noteResend(exchange);
      around.onExchange(exchange);
    };
    const options = {
      ...{ url: base, sessionId, onExchange, onWireEvent, walletProof, fetch: pageFetch },
      ...(app !== 'default' && { app }),
      ...(key !== '' && { key }),
      // In a thread of a link, others could use the secrets.
      ...(clientId !== '' && walletUse === 'own' && { clientId }),
    };
    this.client = createClient({ ...options, surface });
    const other = around.hasHistory ? createClient({ ...options, surface: 'current' }) : null;
    this.keeper = surface === 'current' ? this.client : other;
    this.view = new LiveView(this.client, this.keeper);
  }

  /** Starts to follow the session. */
  start(): void {
    this.#watch().catch((error: unknown) => {
      if (this.view.closed.aborted) return;
      const isRefused = error instanceof ClientError && error.kind === 'refused';
      if (isRefused && (error.status === 404 || error.status === 410)) {
        this.view.apply({ type: 'gone' });
        this.isGone.set(true);
      } else this.failure.set(reasonOf(error));
    });
  }

  /** Stops to follow the session. Messages that are being sent still are: nobody knows whether they have arrived. */
  close(): void {
    this.view.close();
    void Promise.allSettled(this.#sending).then(() => {
      this.client.close();
      this.keeper?.close();
    });
  }

  /**
   * Sends a message, also after `close`. Shows it immediately, and removes it when the service refuses it.
   * @param tellFirst reports to the session what the assistant has to know before it reads the message; never rejects
   * @throws the error of the refusal
   */
  async send(text: string, wallet: string, tellFirst: () => Promise<void>): Promise<void> {
    const sending = this.view.send(text, async (idempotencyKey) => {
      await tellFirst();
      const binding = await this.#bind(wallet);
      await this.client.send(text, { idempotencyKey, ...binding });
    });
    this.#sending.add(sending);
    try {
      await sending;
    } finally {
      this.#sending.delete(sending);
      if (this.#sending.size === 0) this.resendAt.set(null);
    }
  }

  async interrupt(): Promise<void> {
    await this.view.interrupt();
  }

  /** True if the thread can be branched. */
  get canBranch(): boolean {
    return this.keeper !== null;
  }

  /**
   * Branches the thread before a stored message.
   * @returns the id of the new session
   */
  async branch(before: string): Promise<string> {
    if (this.keeper === null) throw new Error('No exposed surface can branch a thread');
    return (await this.keeper.branch(before)).sessionId;
  }

  async setUserState(patch: JsonObject): Promise<void> {
    if (this.keeper === null) throw new Error('No exposed surface can set the user state');
    await this.keeper.setUserState(patch);
    // The follower of the session reads the state: it knows how much of a running reply is shown.
    this.client.refresh();
  }

  /** Reports the connected wallet to the session, so that the assistant knows account and chain. */
  async reportWallet(wallet: WalletState): Promise<void> {
    if (this.keeper === null || isReported(this.view.newest.userState, wallet)) return;
    const { address, chainId, isConnected } = wallet;
    const payload = { address, chain_id: chainId, is_connected: isConnected };
    await this.keeper.reportSystem({ type: 'wallet:state_changed', payload });
  }

  dismissNotices(): void {
    this.view.apply({ type: 'notices_read' });
  }

  /** Binds the wallet to the session. On the current surface, the message itself carries the wallet. */
  async #bind(wallet: string): Promise<{ readonly wallet?: string }> {
    if (wallet === '' || this.keeper === null) return {};
    if (this.keeper === this.client) return { wallet };
    if (this.#boundWallet !== wallet) await this.keeper.create(wallet);
    this.#boundWallet = wallet;
    return {};
  }

  #noteResend({ method, url, retryAfterMs }: Exchange): void {
    if (method !== 'POST' || !/\/chat(\?|$)/.test(url)) return;
    this.resendAt.set(retryAfterMs === null ? null : Date.now() + retryAfterMs);
  }

  async #watch(): Promise<void> {
    await this.#touch();
    for await (const event of this.view.follow()) {
      // The legacy surface does not show the requests, and the current one not before the end of a turn.
      const isAsked =
        event.type === 'tool' && event.status === 'complete' && event.name.startsWith('request_');
      if (event.type === 'state' && this.keeper === this.client)
        this.#showPending(pendingRequests(event.state.userState));
      else if (isAsked || event.type === 'state') this.#readPending();
    }
  }

  #readPending(): void {
    const showPending = (pending: readonly PendingRequest[]): void => {
      this.#showPending(pending);
    };
    // The connection status reports an unreachable service; the next state shows the requests.
    this.keeper?.pending().then(showPending, () => undefined);
  }

  #showPending(pending: readonly PendingRequest[]): void {
    const isEmpty = pending.length === 0 && this.pending.get().length === 0;
    if (!isEmpty && !this.view.closed.aborted) this.pending.set(pending);
  }

  /** Creates the session, because the legacy surface responds with 404 for an unknown one. */
  async #touch(): Promise<void> {
    if (this.client.surface === 'current') return;
    try {
      await (this.keeper === null ? this.client.create() : this.keeper.state());
    } catch {
      // `#watch` reports the error, and continues once the service is reachable.
    }
  }
}
