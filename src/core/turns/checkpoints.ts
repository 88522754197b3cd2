import type { Store } from '../ports/store.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { RunningTurn } from './running-turn.js';

const CHECKPOINT_MS = 500;
/**
 * Turns whose checkpoints are due in the same stretch of time store them together: each write of its own would wake the
 * store.
 */
const BEAT_MS = 100;

/** Where checkpoints are stored. */
export interface CheckpointParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** Stores the text in flight of a turn about every half second while it grows, never per token. */
export class Checkpoints {
  #cancel: (() => void) | undefined;

  constructor(
    private readonly parts: CheckpointParts,
    private readonly running: RunningTurn,
  ) {}

  /** There is text that is not stored. */
  due(): void {
    const { clock } = this.parts;
    this.#cancel ??= clock.after(CHECKPOINT_MS + BEAT_MS - (clock.monotonic() % BEAT_MS), () => {
      void this.store();
    });
  }

  /**
   * What is not stored now is stored with its step or the turn's end. A turn that is given up here keeps its last
   * checkpoint.
   */
  stop(): void {
    this.#cancel?.();
  }

  /** Stores what there is, after whatever of the turn is being stored. Never rejects. */
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
