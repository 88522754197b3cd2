import type { Clock } from '../ports/clock.js';
import type { Observer } from '../ports/observer.js';
import type { CoreSettings } from '../model/settings.js';
import type { Access } from '../access/app-access.js';
import type { Secrets } from '../access/secrets.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { App } from '../model/app.js';
import type { Sent, SendRequest } from '../model/send-request.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Digests } from '../ports/digests.js';
import { overQuota, turnQuotas } from '../model/quota.js';
import { RefusedError } from '../model/refusal.js';
import type { Runner } from './runner.js';
import { walletAddress, type Session, type SessionFields } from '../model/session.js';
import type { Acceptance, Store } from '../ports/store.js';
import { wellFormed } from '../model/text.js';
import type { CachedSession } from '../sessions/cached-session.js';
import { patchedUserState } from '../model/user-state.js';

/** The dependencies of `MessageIntake`. */
export interface AcceptanceParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly settings: CoreSettings;
  readonly access: Access;
  readonly secrets: Secrets;
  readonly walletOwners: WalletOwners;
  readonly threads: SessionCache;
}

/** Validates and stores messages, and starts or queues their turns. */
export class MessageIntake {
  constructor(
    private readonly parts: AcceptanceParts,
    private readonly digests: Digests,
    private readonly runner: Runner,
  ) {}

  /** Stores a message and queues its turn. Both are durable when the promise resolves. */
  async send(request: SendRequest): Promise<Sent> {
    const text = this.#text(request.text);
    const app = await this.parts.access.authorize(request.app, request.key);
    if (this.runner.claim === null) throw unavailable();
    const idempotency = this.#idempotency(request, text);
    const { threads } = this.parts;
    for (;;) {
      // The store rejects the message if the session has changed, so a recent copy suffices, except for the check of
      // secret slots, which happens before the write.
      const thread = await (app.secrets.length > 0
        ? threads.openForWrite(request.session)
        : threads.openLately(request.session));
      const sent = await threads.hold(thread, () =>
        this.#accept(thread, request, { text, app, idempotency }),
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
    const { store, clock, settings, threads, secrets, access } = this.parts;
    const sessionId = thread.id;
    const client = secrets.clientFor(request.clientId, thread.session);
    await secrets.requireSlots(app, client);
    const keyId = await access.keyIdFor(app, request.key);
    const busy = app.busyStrategy ?? settings.busyStrategy;
    const accepted = await store.acceptMessage({
      sessionId,
      ifVersion: thread.session.version,
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
      claim: this.runner.claim,
      at: clock.now(),
    });
    switch (accepted.kind) {
      case 'stale':
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
        throw new RefusedError(
          'full',
          `The thread holds ${String(accepted.bytes)} bytes of text, and with this message it would hold more than ` +
            `${String(settings.maxSessionBytes)}: go on in another session, or delete this one`,
        );
      case 'over_quota':
        throw overQuota(accepted.quota, clock.now());
      case 'key_reused':
        throw new RefusedError('key_reused', 'This Idempotency-Key was used with another message or App');
      case 'accepted':
        break;
    }
    const { turn, message, claimed, commit, interruption } = accepted;
    thread.apply(commit, () => {
      thread.session = accepted.session;
      thread.endTurns(interruption.cancelled);
      thread.addTurn(claimed ?? turn, message);
      thread.session = { ...thread.session, interrupted: false };
    });
    threads.adopt(thread);
    for (const cancelled of interruption.cancelled) this.parts.observer.cancelled(cancelled);
    this.parts.observer.accepted(turn);
    announce(this.parts.bus, sessionId, commit);
    for (const { id: turnId } of interruption.cancelled) {
      this.parts.bus.publish(sessionId, { type: 'turn_ended', turnId, outcome: 'interrupted', error: null });
    }
    if (interruption.running !== null) this.runner.interrupt(sessionId, interruption.running.id);
    if (claimed !== null) this.runner.start(claimed);
    return { sessionId, turnId: turn.id, repeated: false };
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
    if (given.includes('\0'))
      throw new RefusedError('invalid', 'The message has a NUL character, which cannot be stored', [
        { path: 'message', message: 'must not have NUL characters' },
      ]);
    const text = wellFormed(given);
    if (text.trim() === '')
      throw new RefusedError('invalid', 'The message is empty', [
        { path: 'message', message: 'must not be blank' },
      ]);
    const bytes = Buffer.byteLength(text);
    const { maxMessageBytes } = this.parts.settings;
    if (bytes > maxMessageBytes) {
      const message = `The message has ${String(bytes)} bytes; at most ${String(maxMessageBytes)} are taken`;
      throw new RefusedError('invalid', message, [{ path: 'message', message: 'is too long' }]);
    }
    return text;
  }

  #idempotency({ idempotencyKey, app }: SendRequest, text: string): Acceptance['idempotency'] {
    if (idempotencyKey === undefined) return null;
    const { clock, settings } = this.parts;
    const fingerprint = this.digests.sha256(JSON.stringify([app, text]));
    return { key: idempotencyKey, fingerprint, notBefore: clock.now() - settings.idempotencyMs };
  }
}

function unavailable(): RefusedError {
  return new RefusedError(
    'unavailable',
    'The service is restarting; send the message again in a moment',
    [],
    2,
  );
}
