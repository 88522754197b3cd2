import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import type { Commit } from '../model/event.js';
import type { ClaimedTurn, Lease, Turn } from '../model/turn.js';
import { announce, type Bus } from '../ports/bus.js';
import type { Observer } from '../ports/observer.js';
import type { Interruption } from '../ports/store.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { SessionCache } from '../sessions/session-cache.js';
import type { TurnStarter } from '../wallet/wallet-reports.js';
import type { Runner } from './runner.js';

/** A turn that a write has accepted, with the message that begins it. */
export interface AcceptedTurn {
  readonly session: Session;
  readonly turn: Turn;
  readonly message: Message;
  /** Set when the write has claimed the turn for this process. */
  readonly claimed: ClaimedTurn | null;
  /** The turns that were interrupted for this one. Absent: none. */
  readonly interruption?: Interruption;
  readonly commit: Commit;
}

/** The dependencies of `AcceptedTurns`. */
export interface AcceptedTurnParts {
  readonly bus: Bus;
  readonly observer: Observer;
  readonly threads: SessionCache;
}

/** Shows, announces and starts turns that the store has accepted. */
export class AcceptedTurns implements TurnStarter {
  constructor(
    private readonly parts: AcceptedTurnParts,
    private readonly runner: Runner,
  ) {}

  get claim(): Lease | null {
    return this.runner.claim;
  }

  claiming<T>(request: () => Promise<T>): Promise<T> {
    return this.runner.claiming(request);
  }

  begin(thread: CachedSession, accepted: AcceptedTurn, askedAt: number): void {
    const { bus, observer, threads } = this.parts;
    const { turn, message, claimed, commit } = accepted;
    const { cancelled, running } = accepted.interruption ?? { cancelled: [], running: null };
    thread.apply(commit, () => {
      thread.session = accepted.session;
      thread.endTurns(cancelled);
      thread.addTurn(claimed ?? turn, message);
      thread.session = { ...thread.session, interrupted: false };
    });
    threads.adopt(thread);
    for (const one of cancelled) observer.cancelled(one);
    observer.accepted(turn);
    announce(bus, thread.id, commit);
    for (const { id: turnId } of cancelled) {
      bus.publish(thread.id, { type: 'turn_ended', turnId, outcome: 'interrupted', error: null });
    }
    if (running !== null) this.runner.interrupt(thread.id, running.id);
    if (claimed !== null) this.runner.start(claimed, askedAt);
  }
}
