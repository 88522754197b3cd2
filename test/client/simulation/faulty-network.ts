import type { HeldStream } from './held-stream.js';
import type { Received, Reply } from './scripted-service.js';

/** A request that was sent and whose response has not been delivered. */
export interface Flight {
  readonly request: Received;
  /** Undefined until the request has reached the service. */
  reply?: Reply;
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: unknown) => void;
}

/** A network that moves requests, responses and frames only when the simulation says so, or loses them. */
export class FaultyNetwork {
  readonly flights: Flight[] = [];
  readonly #streams = new Set<HeldStream>();

  constructor(
    private readonly respond: (request: Received) => Reply,
    private readonly trace: (line: string) => void,
  ) {}

  /** The open streams whose response headers were delivered. */
  get streams(): HeldStream[] {
    return [...this.#streams].filter(({ isOpen }) => isOpen);
  }

  /** Returns the `fetch` of a tab. */
  fetchFrom(from: string): typeof fetch {
    return (input, init) => {
      const { pathname: path } = new URL(input instanceof Request ? input.url : input);
      const body = typeof init?.body === 'string' ? init.body : '';
      const request = { from, path, headers: new Headers(init?.headers), body };
      return new Promise<Response>((resolve, reject) => {
        const flight: Flight = { request, resolve, reject };
        const signal = init?.signal;
        signal?.addEventListener('abort', () => {
          this.#drop(flight, signal.reason);
        });
        if (signal?.aborted === true) reject(signal.reason as Error);
        else this.flights.push(flight);
      });
    };
  }

  /** Moves a request to the service, or its response to the client. */
  move(flight: Flight): void {
    const { request, reply } = flight;
    if (reply === undefined) {
      this.trace(`${request.from}: ${request.path} received by the service`);
      flight.reply = this.respond(request);
      return;
    }
    this.flights.splice(this.flights.indexOf(flight), 1);
    if (reply.stream !== undefined) this.#streams.add(reply.stream);
    this.trace(`${request.from}: ${request.path} ${String(reply.response.status)} delivered`);
    flight.resolve(reply.response);
  }

  /** Loses a request, or its response. */
  lose(flight: Flight): void {
    const { request, reply } = flight;
    this.trace(`${request.from}: ${request.path} ${reply === undefined ? 'request' : 'response'} lost`);
    this.#drop(flight, new TypeError('the connection was lost'));
  }

  deliver(stream: HeldStream, count: number): void {
    for (const frame of stream.deliver(count))
      this.trace(`${stream.name}: ${frame.trim().replace('\n', ' ')}`);
  }

  close(stream: HeldStream): void {
    this.trace(`${stream.name}: closed`);
    stream.close();
    this.#streams.delete(stream);
  }

  cut(stream: HeldStream): void {
    this.trace(`${stream.name}: cut`);
    stream.cut(new TypeError('the connection was cut'));
    this.#streams.delete(stream);
  }

  /**
   * Delivers the oldest thing that waits for delivery.
   * @returns false if nothing waits
   */
  deliverNext(): boolean {
    const [flight] = this.flights;
    const stream = this.streams.find(({ frames, isEnding }) => frames.length > 0 || isEnding);
    if (flight !== undefined) this.move(flight);
    else if (stream === undefined) return false;
    else if (stream.frames.length > 0) this.deliver(stream, 1);
    else this.close(stream);
    return true;
  }

  #drop(flight: Flight, reason: unknown): void {
    const index = this.flights.indexOf(flight);
    if (index !== -1) this.flights.splice(index, 1);
    const stream = flight.reply?.stream;
    if (stream !== undefined) {
      stream.cut(reason);
      this.#streams.delete(stream);
    }
    flight.reject(reason);
  }
}
