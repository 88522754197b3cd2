/** What the requests of a client have cost in its window of time. */
export interface RequestWindow {
  cost: number;
  /** By the clock of `count`, in milliseconds. */
  endsAt: number;
}

/** So many clients are remembered of one turn of the windows; of more, the one seen first is forgotten. */
const MAX_CLIENTS = 100_000;

/**
 * Counts what the requests of clients cost, each in windows of its own: a window begins with the first request after
 * the one before. Those that are over are let go of in bulk, twice in a window's time at the latest, and no timer is
 * needed for it.
 */
export class RequestWindows {
  #current = new Map<string, RequestWindow>();
  /** Clients that were not seen since the turn. */
  #previous = new Map<string, RequestWindow>();
  #turnsAt = -Infinity;

  constructor(
    private readonly milliseconds: number,
    private readonly maxClients = MAX_CLIENTS,
  ) {}

  /** How many clients are remembered. */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  /**
   * Counts a request of a client.
   * @param at now, by a steady clock, in milliseconds
   * @param cost how many requests it counts as
   * @returns the client's window with the request in it
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

  /** A window that no request has come into since the turn before last is over. */
  #turn(at: number): void {
    const isLate = at >= this.#turnsAt + this.milliseconds;
    this.#previous = isLate ? new Map<string, RequestWindow>() : this.#current;
    this.#current = new Map();
    this.#turnsAt = at + this.milliseconds;
  }
}
