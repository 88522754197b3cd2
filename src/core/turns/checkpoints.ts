import type { Store } from '../ports/store.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { RunningTurn } from './running-turn.js';

const CHECKPOINT_MS = 500;
/** Checkpoints are aligned to multiples of this, so that those of several turns share one write of the store. */
const BEAT_MS = 100;

/** The dependencies of `Checkpoints`. */
export interface CheckpointParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stores the text in flight of a turn about every half second while it grows. */
export class Checkpoints {
  #cancel: (() => void) | undefined;

  constructor(
    private readonly parts: CheckpointParts,
    private readonly running: RunningTurn,
  ) {}

  /** Schedules a checkpoint, unless one is scheduled. */
  due(): void {
    const { clock } = this.parts;
    this.#cancel ??= clock.after(CHECKPOINT_MS + BEAT_MS - (clock.monotonic() % BEAT_MS), () => {
      void this.store();
    });
  }

  /**
   * Cancels the scheduled checkpoint. The text is stored with the step or the end of the turn; an abandoned turn keeps
   * its last checkpoint.
   */
  stop(): void {
    this.#cancel?.();
  }

  /** Stores a checkpoint, after any write of the turn in progress. Never rejects. */
  async store(): Promise<void> {
    try {
      await this.running.inSequence(() => this.#save());
    } catch (error) {
      this.parts.log.warn({ err: error }, 'checkpoint failed');
    }
  }

  async #save(): Promise<void> {
    const { running, parts } = this;
    this.#cancel = undefined;
    if (running.isStopped || running.text === '') return;
    const { text: partialText, textSince: partialSince } = running;
    const progress = { messages: [], events: [], partialText, partialSince };
    const commit = await parts.store.saveProgress(running.turn, progress, parts.clock.now());
    if (commit === 'lost') running.stop('lost');
  }
}
