/** How many requests a client has made in its window of time. */
export interface RequestWindow {
  requests: number;
  /** In milliseconds since the epoch. */
  endsAt: number;
}

/** So many clients are remembered of one turn of the windows; of more, the one seen first is forgotten. */
const MAX_CLIENTS = 100_000;

/**
 * Counts the requests of clients, each in windows of its own: a window begins with the first request after the one before. Those that
 * are over are let go of in bulk, twice in a window's time at the latest, and no timer is needed for it.
 */
export class RequestWindows {
  #current = new Map<string, RequestWindow>();
  /** Clients that were not seen since the turn. */
  #previous = new Map<string, RequestWindow>();
  #turnsAt = 0;

  constructor(
    private readonly milliseconds: number,
    private readonly maxClients = MAX_CLIENTS,
  ) {}

  /** How many clients are remembered. */
  get size(): number {
    return this.#current.size + this.#previous.size;
  }

  /** Counts a request of a client. Returns its window with the request in it. */
  count(client: string, at: number): RequestWindow {
    if (at >= this.#turnsAt) this.#turn(at);
    const window = this.#current.get(client) ?? this.#bring(client, at);
    if (window.endsAt <= at) {
      window.requests = 0;
      window.endsAt = at + this.milliseconds;
    }
    window.requests++;
    return window;
  }

  #bring(client: string, at: number): RequestWindow {
    const window = this.#previous.get(client) ?? { requests: 0, endsAt: at + this.milliseconds };
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
