/** The cost of a client's requests in its current time window. */
export interface RequestWindow {
  cost: number;
  /** By the clock of `count`, in milliseconds. */
  endsAt: number;
}

/** Maximum number of clients per generation; beyond it, the oldest entry is dropped. */
const MAX_CLIENTS = 100_000;

/**
 * Counts the cost of clients' requests in fixed windows. A client's window begins with its first request after the
 * previous window. Two generations of windows alternate, so that expired ones are dropped in bulk without a timer.
 */
export class RequestWindows {
  #current = new Map<string, RequestWindow>();
  /** Clients that were not seen since the last rotation. */
  #previous = new Map<string, RequestWindow>();
  #turnsAt = -Infinity;

  constructor(
    private readonly milliseconds: number,
    private readonly maxClients = MAX_CLIENTS,
  ) {}

  /** The number of tracked clients. */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  /**
   * Counts a request of a client.
   * @param at the current time by a monotonic clock, in milliseconds
   * @param cost the number of requests that it counts as
   * @returns the client's window, including this request
   */
  count(client: string, at: number, cost = 1): RequestWindow {
    if (at >= this.#turnsAt) this.#turn(at);
    const window = this.#current.get(client) ?? this.#bring(client, at);
    if (window.endsAt <= at) {
      window.cost = 0;
      window.endsAt = at + this.milliseconds;
    }
    window.cost += cost;
    return window;
  }

  #bring(client: string, at: number): RequestWindow {
    const window = this.#previous.get(client) ?? { cost: 0, endsAt: at + this.milliseconds };
    this.#previous.delete(client);
    const [oldest] = this.#current.size >= this.maxClients ? this.#current.keys() : [];
    if (oldest !== undefined) this.#current.delete(oldest);
    this.#current.set(client, window);
    return window;
  }

  /** Rotates the generations. A window without a request since the rotation before has expired. */
  #turn(at: number): void {
    const isLate = at >= this.#turnsAt + this.milliseconds;
    this.#previous = isLate ? new Map<string, RequestWindow>() : this.#current;
    this.#current = new Map();
    this.#turnsAt = at + this.milliseconds;
  }
}
