import type { Random } from '../chaos/random.js';
import { Cut, open, type Ask, type OpenAnswer } from '../chaos/wire.js';

/** What happened, for the summary and the exit code. */
export class Figures {
  turns = 0;
  requests = 0;
  /** Responses with 503, and refused connections, of nodes that were draining. */
  unavailable = 0;
  readonly faults: string[] = [];
  #setFailed: () => void = () => undefined;
  readonly #failed = new Promise<void>((resolve) => (this.#setFailed = resolve));
  readonly #waiting: { readonly turns: number; readonly resolve: () => void }[] = [];

  fault(detail: string): void {
    this.faults.push(detail);
    process.stdout.write(`FAULT: ${detail}\n`);
    this.#setFailed();
  }

  turnEnded(): void {
    this.turns++;
    for (const { turns, resolve } of this.#waiting) if (this.turns >= turns) resolve();
  }

  /** Resolves once so many more turns have ended. */
  moreTurns(count: number): Promise<void> {
    const turns = this.turns + count;
    return new Promise((resolve) => this.#waiting.push({ turns, resolve }));
  }

  /** Resolves once these have, or at the first fault: then they may never do. */
  async unlessFailed(...all: readonly Promise<unknown>[]): Promise<void> {
    await Promise.race([this.#failed, Promise.all(all)]);
  }
}

/**
 * The nodes that get requests, as a balancer has them that learns from responses: it stops sending to a node whose
 * drain it has met.
 */
export class Rotation {
  readonly #urls = new Set<string>();
  readonly #draining = new Set<string>();

  constructor(
    private readonly figures: Figures,
    private readonly random: Random,
  ) {}

  add(url: string): void {
    this.#urls.add(url);
  }

  /** Marks a node that is about to receive SIGTERM: it may refuse requests from now on. */
  drains(url: string): void {
    this.#draining.add(url);
  }

  /** The node has ended. */
  remove(url: string): void {
    this.#urls.delete(url);
  }

  /**
   * Sends a request to any node, and to another one if that node is draining. Reports every other failure.
   * @param ask the request to the node with this base URL; it must be safe to repeat
   * @returns the response with status 200; undefined after a reported failure
   */
  async send(ask: (url: string) => Ask): Promise<OpenAnswer | undefined> {
    for (;;) {
      const [first, ...others] = this.#urls;
      if (first === undefined) throw new Error('no node is left');
      const url = this.random.pick([first, ...others]);
      const asked = ask(url);
      const what = `${asked.method} ${asked.url}`;
      this.figures.requests++;
      try {
        // One connection for each request, so that none is sent on a connection that the node is closing.
        const answer = await open({ ...asked, headers: { ...asked.headers, Connection: 'close' } });
        if (answer.status === 200) return answer;
        answer.close();
        if (answer.status !== 503 || !this.#draining.has(url)) {
          this.figures.fault(`${what}: ${String(answer.status)}`);
          return undefined;
        }
      } catch (error) {
        if (!(error instanceof Cut && isRefused(error) && this.#draining.has(url))) {
          this.figures.fault(`${what}: ${String(error)}`);
          return undefined;
        }
      }
      this.figures.unavailable++;
      this.#urls.delete(url);
    }
  }
}

/** True when no process listened. */
function isRefused({ cause }: Cut): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}
