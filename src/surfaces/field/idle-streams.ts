/** A stream that may be closed when it is idle. */
export interface Idler {
  /** The client address that opened it. */
  readonly address: string;
  /** True: the stream shows nothing, because its session does not exist. */
  readonly isSilent: boolean;
  /**
   * Reads the session. `busy`: it has a turn. `returned`: the stream is silent, but its session exists again, so that
   * the client must come back.
   */
  state(): Promise<'idle' | 'busy' | 'returned'>;
  close(): void;
}

/** How many times per idle period the streams are checked. */
const CHECKS = 4;

interface Entry {
  readonly stream: Idler;
  /**
   * The time of the last event, or of the last check that found a turn or failed, by the monotonic clock, in
   * milliseconds.
   */
  usedAt: number;
}

/**
 * Closes idle streams. Clients open a stream for each thread that they show and never close one, while a browser allows
 * six connections to a host over HTTP/1.1. The last stream that an address has opened is never idle.
 */
export class IdleStreams {
  /** The open streams of each address, in the order in which they were opened. */
  readonly #open = new Map<string, Set<Entry>>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** @param idleMs after how many milliseconds without an event and without a turn a stream is idle */
  constructor(
    private readonly idleMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Adds an open stream. Call `used` for each event, and `remove` at its end. */
  add(stream: Idler): { readonly used: () => void; readonly remove: () => void } {
    const entry: Entry = { stream, usedAt: this.now() };
    const { address } = stream;
    const open = this.#open.get(address) ?? new Set();
    this.#open.set(address, open.add(entry));
    this.#timer ??= setInterval(() => void this.#check(), Math.max(this.idleMs / CHECKS, 1)).unref();
    return {
      used: () => {
        entry.usedAt = this.now();
      },
      remove: () => {
        open.delete(entry);
        if (open.size > 0 || this.#open.get(address) !== open) return;
        this.#open.delete(address);
        if (this.#open.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const due = [...this.#open.values()].flatMap((open) => [...open]);
      for (const entry of due) if (this.now() - entry.usedAt >= this.idleMs) await this.#closeIfIdle(entry);
    } catch {
      // The store is unavailable: the next check goes on with the later streams.
    } finally {
      this.#isChecking = false;
    }
  }

  async #closeIfIdle(entry: Entry): Promise<void> {
    const { stream } = entry;
    if (this.#isLast(entry) && !stream.isSilent) return;
    const state = await stream.state().catch((error: unknown) => {
      entry.usedAt = this.now();
      throw error;
    });
    if (state === 'busy') entry.usedAt = this.now();
    else if (state === 'returned' || !this.#isLast(entry)) stream.close();
  }

  #isLast(entry: Entry): boolean {
    return [...(this.#open.get(entry.stream.address) ?? [])].at(-1) === entry;
  }
}
