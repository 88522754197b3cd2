import type { FaultDelivery, OpenTurnView, Snapshot } from './snapshot.js';
import type { Parts } from './parts.js';
import type { Runner } from './runner.js';
import type { SessionStatus } from './session.js';
import type { ActiveThread, OpenTurn } from './thread.js';

/** Puts snapshots together: what is stored, from the mirror, and the text in flight, from the runner. */
export class Snapshots {
  /** Sessions whose faults are on their way in some answer. */
  readonly #inDelivery = new Map<string, Set<number>>();

  constructor(
    private readonly parts: Parts,
    private readonly runner: Runner,
  ) {}

  take(thread: ActiveThread): Snapshot {
    const { session, settled } = thread;
    const open = thread.open.map((turn) => this.#view(turn));
    const status: SessionStatus = thread.processing
      ? 'processing'
      : session.interrupted
        ? 'interrupted'
        : 'idle';
    const faults = this.#claimFaults(thread);
    return { session, status, settled, open, faults, tag: this.#tag(thread, open, faults) };
  }

  #view({ turn, messages, partialText }: OpenTurn): OpenTurnView {
    if (turn.status !== 'running') return { messages, streaming: null };
    const running = this.runner.inSession(turn.sessionId);
    const isHere = running?.turn.id === turn.id;
    const text = isHere ? running.text || running.leftover : partialText;
    // The store may have the step as a record, and memory too, before the runner has heard that it is stored.
    const isRecord =
      isHere &&
      running.messages.length > 0 &&
      messages.some(({ position }) => position >= running.nextPosition);
    if (text === '' || isRecord) return { messages, streaming: null };
    return {
      messages,
      streaming: { text, since: isHere && running.textSince > 0 ? running.textSince : turn.createdAt },
    };
  }

  #tag(thread: ActiveThread, open: readonly OpenTurnView[], faults: FaultDelivery): string {
    const running = this.runner.inSession(thread.id);
    const flight = open.find(({ streaming }) => streaming !== null)?.streaming?.text.length ?? 0;
    // What an earlier attempt showed and what is made anew in its place may have one length.
    const isLeft = running?.text === '' && running.leftover !== '';
    const attempt = running === undefined ? '' : `.${String(running.turn.attempt)}${isLeft ? 'l' : ''}`;
    const told = faults.texts.length === 0 ? '' : `.f${String(thread.faults.at(-1)?.n ?? 0)}`;
    return `${String(thread.session.revision)}.${String(flight)}${attempt}${told}`;
  }

  /** A fault goes out with one snapshot; only when that answer was not sent does another carry it. */
  #claimFaults(thread: ActiveThread): FaultDelivery {
    if (thread.faults.length === 0) return NO_FAULTS;
    const taken = this.#inDelivery.get(thread.id) ?? new Set<number>();
    const mine = thread.faults.filter(({ n }) => !taken.has(n));
    if (mine.length === 0) return NO_FAULTS;
    for (const { n } of mine) taken.add(n);
    this.#inDelivery.set(thread.id, taken);
    const release = (): void => {
      for (const { n } of mine) taken.delete(n);
      if (taken.size === 0 && this.#inDelivery.get(thread.id) === taken) this.#inDelivery.delete(thread.id);
    };
    const confirm = (): void => {
      const [newest] = [...mine].reverse();
      for (const { n } of mine) thread.told.add(n);
      thread.faults = thread.faults.filter(({ n }) => !thread.told.has(n));
      // An older one may still be on its way: only what is before it is remembered as shown.
      const oldestLeft = thread.faults[0]?.n;
      const shown = oldestLeft === undefined ? newest?.n : oldestLeft - 1;
      const remembered =
        shown === undefined ? Promise.resolve() : this.parts.store.markFaultsShown(thread.id, shown);
      remembered
        .catch((error: unknown) => {
          this.parts.log.warn({ err: error }, 'a shown system error may be shown again');
        })
        .finally(release);
    };
    return { texts: mine.map(({ text }) => text), confirm, release };
  }
}

const NO_FAULTS: FaultDelivery = { texts: [], confirm: () => undefined, release: () => undefined };
