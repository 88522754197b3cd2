import type { Client, SessionEvent, SessionState } from '../../src/client/index.js';

/** The events that a source has yielded so far, and a way to wait for more. */
export class Received {
  readonly events: SessionEvent[] = [];
  /** Resolves when the source has ended, rejects when it failed. */
  readonly ended: Promise<void>;
  #wake: (() => void)[] = [];
  #isOver = false;

  constructor(source: AsyncIterable<SessionEvent>) {
    this.ended = this.#read(source);
    this.ended.catch(() => undefined);
  }

  /** Resolves once this holds. @throws Error when the source ends without */
  async until(holds: (received: this) => boolean): Promise<void> {
    while (!holds(this)) {
      if (this.#isOver) throw new Error(`ended with ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  of<T extends SessionEvent['type']>(type: T): Extract<SessionEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);
  }

  /** The text of each turn as it was received; a text that begins again replaces it. */
  texts(): Map<string, string> {
    const texts = new Map<string, string>();
    for (const event of this.events) {
      if (event.type === 'turn_started') texts.set(event.turnId, '');
      if (event.type === 'text') texts.set(event.turnId, (texts.get(event.turnId) ?? '') + event.content);
    }
    return texts;
  }

  /**
   * All that the assistant has said, as a person sees it: states replace everything, text is added. After each event.
   */
  views(): string[] {
    let view = '';
    return this.events.flatMap((event) => {
      if (event.type === 'state') view = said(event.state);
      else if (event.type === 'text') view += event.content;
      else return [];
      return [view];
    });
  }

  async #read(source: AsyncIterable<SessionEvent>): Promise<void> {
    try {
      for await (const event of source) {
        this.events.push(event);
        this.#notify();
      }
    } finally {
      this.#isOver = true;
      this.#notify();
    }
  }

  #notify(): void {
    for (const resume of this.#wake.splice(0)) resume();
  }
}

/** All that the assistant has said. */
export function said({ messages }: SessionState): string {
  return messages
    .filter(({ sender }) => sender === 'agent')
    .map(({ content }) => content)
    .join('');
}

/** Watches until the test's end, or until `stop`. */
export function watching(client: Client): Received & { stop(): void } {
  const stop = new AbortController();
  const received = new Received(client.watch(stop.signal));
  return Object.assign(received, {
    stop: () => {
      stop.abort();
    },
  });
}

/** A network that a test can cut: what is open breaks off, and while it is down nothing gets through. */
export class Network {
  isDown = false;
  /** The next so many requests arrive, and their answers are lost. */
  losing = 0;
  readonly #open = new Set<AbortController>();

  readonly fetch: typeof fetch = async (input, init) => {
    if (this.isDown) throw new TypeError('the network is down');
    const life = new AbortController();
    this.#open.add(life);
    init?.signal?.addEventListener('abort', () => {
      life.abort(init.signal?.reason);
    });
    const response = await fetch(input, { ...init, signal: life.signal });
    if (this.losing > 0) {
      this.losing--;
      life.abort();
      throw new TypeError('the answer was lost');
    }
    return response;
  };

  cut(): void {
    for (const life of this.#open) life.abort(new TypeError('the connection was cut'));
    this.#open.clear();
  }
}

/** A network where the bodies of some streams arrive late, in two parts. */
export class Held {
  /** Lets what they begin with through. */
  begin: () => void = () => undefined;
  /** Lets all of it through. */
  release: () => void = () => undefined;
  readonly #begun = new Promise<void>((resolve) => (this.begin = resolve));
  readonly #released = new Promise<void>((resolve) => (this.release = resolve));

  /**
   * @param path the end of the path whose answers are held
   * @param mark they begin with everything up to the frame that has this text
   */
  through(network: Network, path: string, mark: string): typeof fetch {
    return async (input, init) => {
      const response = await network.fetch(input, init);
      const { body, status, headers } = response;
      if (body === null || typeof input !== 'string' || !new URL(input).pathname.endsWith(path))
        return response;
      const held = new TransformStream<Uint8Array, Uint8Array>({
        start: () => this.#begun,
        transform: async (chunk, controller) => {
          const at = Buffer.from(chunk).indexOf(mark);
          const end = at === -1 ? chunk.length : Buffer.from(chunk).indexOf('\n\n', at) + 2;
          controller.enqueue(chunk.subarray(0, end));
          if (at !== -1) await this.#released;
          controller.enqueue(chunk.subarray(end));
        },
      });
      return new Response(body.pipeThrough(held), { status, headers });
    };
  }
}
