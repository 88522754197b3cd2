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
    // The store rejects the message if the session has changed, so the cached copy suffices, except for the check of
    // secret slots, which happens before the write.
    for (let isChecked = app.secrets.length > 0; ; isChecked = true) {
      const thread = await (isChecked
        ? threads.openForWrite(request.session)
        : threads.openUnchecked(request.session));
      const sent = await threads.hold(thread, () =>
        this.turns.claiming(() => this.#accept(thread, request, { text, app, idempotency })),
      );
      if (sent === undefined) {
        // Another write may have changed the session: read it again.
        thread.stale = true;
      } else if (!(sent instanceof RefusedError)) return sent;
      else if (isChecked) throw sent;
    }
  }

  /**
   * Stores the message, unless it returns undefined, because the session has changed since it was read, or the refusal
   * of a message that does not fit this copy of the session, though it may fit a newer one.
   */
  async #accept(
    thread: CachedSession,
    request: SendRequest,
    { text, app, idempotency }: { text: string; app: App; idempotency: Acceptance['idempotency'] },
  ): Promise<Sent | RefusedError | undefined> {
    const { store, clock, settings, secrets, access } = this.parts;
    const sessionId = thread.id;
    const client = secrets.clientFor(request.clientId, thread.session);
    const missing = await secrets.missingSlots(app, client);
    const keyId = await access.keyIdFor(app, request.key);
    const set = this.#fieldsOf(request, thread.session, app);
    const refusal = missing ?? (set instanceof RefusedError ? set : undefined);
    if (refusal !== undefined && idempotency === null) return refusal;
    const busy = app.busyStrategy ?? settings.busyStrategy;
    const askedAt = clock.monotonic();
    const accepted = await store.acceptMessage({
      sessionId,
      // A repeat of an accepted message is never refused. With this version, the store accepts nothing else.
      ifVersion: refusal === undefined ? thread.session.version : NO_VERSION,
      set: set instanceof RefusedError ? {} : set,
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
        return refusal;
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

  /** Returns the fields of the session that the message changes, or why it may not change them. */
  #fieldsOf(request: SendRequest, session: Session, app: App): SessionFields | RefusedError {
    try {
      const wallet = this.#walletOf(request, session);
      const userState =
        request.userState === undefined
          ? session.userState
          : patchedUserState(session.userState, request.userState);
      return {
        ...(app.name !== session.app && { app: app.name }),
        ...(wallet !== session.wallet && { wallet }),
        ...(userState !== session.userState && { userState }),
      };
    } catch (error) {
      if (error instanceof RefusedError) return error;
      throw error;
    }
  }

  #walletOf({ wallet, walletProof }: SendRequest, session: Session): string | null {
    if (wallet === undefined) return session.wallet;
    return this.parts.walletOwners.ownerOf(walletAddress(wallet), walletProof, session.wallet);
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
