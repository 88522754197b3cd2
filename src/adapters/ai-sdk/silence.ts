/** Who waits for the other side. */
export interface Waiting {
  /** Whether the silence is not the other side's doing: then the time begins anew. */
  isExcused(): boolean;
  /** Called once, when nothing was heard for so long. */
  fellSilent(): void;
}

/** Waits for the other side to fall silent. */
export class Silence {
  #since = performance.now();
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(
    private readonly milliseconds: number,
    private readonly waiting: Waiting,
  ) {
    this.#timer = setTimeout(look, milliseconds, this);
  }

  /** Something was heard. Called for each token: it notes the time and touches no timer, whose place in Node's lists costs ten times that. */
  heard(): void {
    this.#since = performance.now();
  }

  /** It is over: nobody is called any more. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  /** The time is over, unless something was heard meanwhile. */
  look(): void {
    if (this.#isOver) return;
    const now = performance.now();
    if (this.waiting.isExcused()) this.#since = now;
    const left = this.#since + this.milliseconds - now;
    if (left <= 0) this.waiting.fellSilent();
    else this.#timer = setTimeout(look, left, this);
  }
}

/** A process that was held up finds bytes waiting: let them in before the other side is called silent. */
function look(silence: Silence): void {
  setImmediate(() => {
    silence.look();
  });
}
