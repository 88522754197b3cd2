import type { Clock } from '../ports/clock.js';
import type { CoreSettings } from '../model/settings.js';
import type { Access } from '../access/app-access.js';
import type { Secrets } from '../access/secrets.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { App } from '../model/app.js';
import { messageText, type Sent, type SendRequest } from '../model/send-request.js';
import type { Digests } from '../ports/digests.js';
import { overQuota, turnQuotas } from '../model/quota.js';
import { RefusedError, serviceRestarting, threadFull } from '../model/refusal.js';
import type { AcceptedTurns } from './accepted-turns.js';
import { walletAddress, type Session, type SessionFields } from '../model/session.js';
import type { Acceptance, Store } from '../ports/store.js';
import type { CachedSession } from '../sessions/cached-session.js';
import { patchedUserState } from '../model/user-state.js';

/** The dependencies of `MessageIntake`. */
export interface AcceptanceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: CoreSettings;
  readonly access: Access;
  readonly secrets: Secrets;
  readonly walletOwners: WalletOwners;
  readonly threads: SessionCache;
}

/** A version that no session has. */
const NO_VERSION = -1;

/** Validates and stores messages, and starts or queues their turns. */
export class MessageIntake {
  constructor(
    private readonly parts: AcceptanceParts,
    private readonly digests: Digests,
    private readonly turns: AcceptedTurns,
  ) {}

  /** Stores a message and queues its turn. Both are durable when the promise resolves. */
  async send(request: SendRequest): Promise<Sent> {
    const text = this.#text(request.text);
    const app = await this.parts.access.authorize(request.app, request.key);
    if (this.turns.claim === null) throw serviceRestarting();
    const idempotency = this.#idempotency(request, text);
    const { threads } = this.parts;
    for (;;) {
      // The store rejects the message if the session has changed, so the cached copy suffices, except for the check of
      // secret slots, which happens before the write.
      const thread = await (app.secrets.length > 0
        ? threads.openForWrite(request.session)
        : threads.openUnchecked(request.session));
      const sent = await threads.hold(thread, () =>
        this.turns.claiming(() => this.#accept(thread, request, { text, app, idempotency })),
      );
      if (sent !== undefined) return sent;
      // Another write changed the session: read it again.
      thread.stale = true;
    }
  }

  /** Returns undefined if the session has changed since it was read: nothing was stored. */
  async #accept(
    thread: CachedSession,
    request: SendRequest,
    { text, app, idempotency }: { text: string; app: App; idempotency: Acceptance['idempotency'] },
  ): Promise<Sent | undefined> {
    const { store, clock, settings, secrets, access } = this.parts;
    const sessionId = thread.id;
    const client = secrets.clientFor(request.clientId, thread.session);
    const missing = await secrets.missingSlots(app, client);
    if (missing !== undefined && idempotency === null) throw missing;
    const keyId = await access.keyIdFor(app, request.key);
    const busy = app.busyStrategy ?? settings.busyStrategy;
    const askedAt = clock.monotonic();
    const accepted = await store.acceptMessage({
      sessionId,
      // A repeat of an accepted message needs no secrets. With this version, the store accepts nothing else.
      ifVersion: missing === undefined ? thread.session.version : NO_VERSION,
      set: this.#fieldsOf(request, thread.session, app),
      text,
      messageId: clock.newId(),
      turnId: clock.newId(),
      app: app.name,
      clientId: client,
      keyId,
      quotas: turnQuotas(settings.limits, { sessionId, keyId }, clock.now()),
      idempotency,
      busy,
      maxQueued: settings.maxQueued,
      maxSessionBytes: settings.maxSessionBytes,
      claim: this.turns.claim,
      at: clock.now(),
    });
    switch (accepted.kind) {
      case 'stale':
        if (missing !== undefined) throw missing;
        return undefined;
      case 'repeated':
        return { sessionId, turnId: accepted.turnId, repeated: true };
      case 'busy':
        throw new RefusedError(
          'busy',
          'The thread is still working on an earlier message; wait for it or interrupt it',
        );
      case 'queue_full': {
        const limit = String(settings.maxQueued);
        throw new RefusedError('too_many', `${limit} messages are waiting in this thread already`, [], 5);
      }
      case 'full':
        throw threadFull(accepted.bytes, settings.maxSessionBytes);
      case 'over_quota':
        throw overQuota(accepted.quota, clock.now());
      case 'key_reused':
        throw new RefusedError('key_reused', 'This Idempotency-Key was used with another message or App');
      case 'accepted':
        break;
    }
    this.turns.begin(thread, accepted, askedAt);
    return { sessionId, turnId: accepted.turn.id, repeated: false };
  }

  /** Returns the fields of the session that the message changes. */
  #fieldsOf(request: SendRequest, session: Session, app: App): SessionFields {
    const { wallet: asked, walletProof } = request;
    const wallet =
      asked === undefined
        ? session.wallet
        : this.parts.walletOwners.ownerOf(walletAddress(asked), walletProof, session.wallet);
    const isNewWallet = wallet !== null && wallet !== session.wallet;
    const userState =
      request.userState === undefined
        ? session.userState
        : patchedUserState(session.userState, request.userState);
    return {
      ...(app.name !== session.app && { app: app.name }),
      ...(isNewWallet && { wallet }),
      ...(userState !== session.userState && { userState }),
    };
  }

  #text(given: string): string {
    const text = messageText(given, this.parts.settings.maxMessageBytes);
    if (text.trim() !== '') return text;
    throw new RefusedError('invalid', 'The message is empty', [
      { path: 'message', message: 'must not be blank' },
    ]);
  }

  #idempotency({ idempotencyKey, app }: SendRequest, text: string): Acceptance['idempotency'] {
    if (idempotencyKey === undefined) return null;
    const { clock, settings } = this.parts;
    const fingerprint = this.digests.sha256(JSON.stringify([app, text]));
    return { key: idempotencyKey, fingerprint, notBefore: clock.now() - settings.idempotencyMs };
  }
}
