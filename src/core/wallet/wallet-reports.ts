import type { Secrets } from '../access/secrets.js';
import { DEFAULT_APP } from '../model/app.js';
import type { Message } from '../model/message.js';
import { RefusedError, serviceRestarting, threadFull } from '../model/refusal.js';
import { messageText, type SystemMessage } from '../model/send-request.js';
import type { SessionRef } from '../model/session.js';
import type { CoreSettings } from '../model/settings.js';
import type { Lease } from '../model/turn.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { ReportedOutcome, WalletStore } from '../ports/wallet-store.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { Sessions } from '../sessions/sessions.js';
import { readReport, type ReportMessage } from './report-message.js';
import { claimWords, looksLikeWords } from './request-words.js';

/** Starts turns that a write has queued or claimed. Implemented by `turns/accepted-turns.ts`. */
export interface TurnStarter {
  /** The lease to claim turns with; null while the service drains. */
  readonly claim: Lease | null;
  /** Makes a request that may claim a turn, and begins that. The service does not stop before it has. */
  claiming<T>(request: () => Promise<T>): Promise<T>;
  /**
   * Shows and announces an accepted turn, and runs it if this process has claimed it.
   * @param askedAt when the store was asked to accept it, by the monotonic clock, in milliseconds
   */
  begin(
    thread: CachedSession,
    accepted: Extract<ReportedOutcome, { kind: 'accepted' }>,
    askedAt: number,
  ): void;
}

/** The dependencies of `WalletReports`. */
export interface WalletReportParts {
  readonly store: WalletStore;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly settings: Pick<CoreSettings, 'maxMessageBytes' | 'maxSessionBytes'>;
  readonly secrets: Secrets;
  readonly threads: SessionCache;
}

type Outcome = Extract<ReportMessage, { kind: 'outcome' }>;

/** Takes what clients and their wallets report outside the conversation. Waits for no model and no chain. */
export class WalletReports {
  constructor(
    private readonly parts: WalletReportParts,
    private readonly sessions: Sessions,
    private readonly turns: TurnStarter,
  ) {}

  /** See `WalletRequestApi.report`. */
  async report(ref: SessionRef, given: string, clientId?: string): Promise<SystemMessage> {
    const { clock, settings } = this.parts;
    const text = messageText(given, settings.maxMessageBytes);
    if (this.turns.claim === null) throw serviceRestarting();
    const report = readReport(text);
    let taken: SystemMessage | undefined;
    switch (report.kind) {
      case 'wallet_changed':
        await this.sessions.mergeState(ref, report.patch);
        break;
      case 'outcome':
        taken = await this.#settle(ref, report, clientId);
        break;
      case 'note':
        if (text.trim() === '') await this.sessions.touch(ref);
        else taken = await this.#note(ref, text);
        break;
      case 'nothing':
        await this.sessions.touch(ref);
        break;
    }
    return taken ?? { content: text, at: clock.now() };
  }

  /** Stores an outcome and starts the turn for it. Undefined: it concerns no pending request of the session. */
  async #settle(
    ref: SessionRef,
    outcome: Outcome,
    clientId: string | undefined,
  ): Promise<SystemMessage | undefined> {
    const { threads } = this.parts;
    await this.sessions.touch(ref);
    const reported = new Set<number>();
    const messages: Message[] = [];
    for (;;) {
      // Checked now: another process may have requested a moment ago what the wallet reports.
      const thread = await threads.openForWrite(ref, 0);
      const pending = thread.session.pending.filter(
        ({ id, payload }) => payload.kind === outcome.of && outcome.ids.includes(id) && !reported.has(id),
      );
      const [first] = pending;
      if (first === undefined) return shownAs(messages);
      // A turn belongs to one App.
      const together = pending.filter(({ app }) => app === first.app);
      const text = claimWords(together, outcome);
      const ids = together.map(({ id }) => id);
      const stored = await threads.hold(thread, () =>
        this.turns.claiming(() => this.#store(thread, { outcome, ids, app: first.app, text, clientId })),
      );
      if (stored !== undefined) {
        for (const id of ids) reported.add(id);
        messages.push(stored);
      } else {
        // Another report was faster, or the requests have expired: read the session again.
        thread.stale = true;
      }
    }
  }

  /** Undefined: one of the requests is no longer pending, and nothing was written. */
  async #store(
    thread: CachedSession,
    report: {
      readonly outcome: Outcome;
      readonly ids: readonly number[];
      readonly app: string;
      readonly text: string;
      readonly clientId: string | undefined;
    },
  ): Promise<Message | undefined> {
    const { store, clock, secrets } = this.parts;
    const { outcome, ids, app, text, clientId } = report;
    const isRejected = outcome.claim.status === 'failed' && outcome.claim.proof === null;
    const askedAt = clock.monotonic();
    const stored = await store.reportWalletOutcome({
      ...{ sessionId: thread.id, ids, app, text, claim: outcome.claim },
      state: isRejected ? 'rejected' : 'reported',
      ...{ turnId: clock.newId(), messageId: clock.newId() },
      clientId: secrets.clientFor(clientId, thread.session),
      claimTurn: this.turns.claim,
      at: clock.now(),
    });
    if (stored.kind === 'stale') return undefined;
    this.turns.begin(thread, stored, askedAt);
    return stored.message;
  }

  /**
   * Stores a `system` message that starts no turn.
   * @throws RefusedError `invalid` for text that clients take for the service's words about a request
   */
  async #note(ref: SessionRef, text: string): Promise<SystemMessage | undefined> {
    if (looksLikeWords(text)) {
      throw new RefusedError(
        'invalid',
        "The message has the form of the service's words about wallet requests",
        [
          {
            path: 'message',
            message: 'must not begin with "The wallet reported ", nor have a line "Wallet request 1 (…): …"',
          },
        ],
      );
    }
    const { store, clock, threads, settings, bus } = this.parts;
    const thread = await threads.openForWrite(ref);
    const { maxSessionBytes } = settings;
    const noted = await threads.hold(thread, () =>
      store.addNote({
        ...{ sessionId: thread.id, text, maxSessionBytes },
        ...{ turnId: clock.newId(), messageId: clock.newId() },
        app: thread.session.app ?? DEFAULT_APP,
        at: clock.now(),
      }),
    );
    if (noted.kind === 'full') throw threadFull(noted.bytes, maxSessionBytes);
    // The session was deleted after it was read, and the note has created it again: the copy must be read again.
    if (noted.created && thread.stored) thread.noteRevision(noted.commit.revision);
    else {
      thread.apply(noted.commit, () => {
        thread.session = noted.session;
        thread.addTurn(noted.turn, noted.message);
      });
    }
    threads.adopt(thread);
    announce(bus, thread.id, noted.commit);
    return shownAs([noted.message]);
  }
}

/** Returns stored records as one message, with the time of the last. Undefined: there are none. */
function shownAs(messages: readonly Message[]): SystemMessage | undefined {
  const last = messages.at(-1);
  return last && { content: messages.map(({ content }) => content).join(' '), at: last.createdAt };
}
