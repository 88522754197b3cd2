import type { Connection } from './connection.js';

/** How long somebody waits to be attached, in milliseconds. */
const ATTACH_MS = 1_000;
/** How many channels are subscribed to by one command. */
const BATCH = 500;

interface Attachment {
  count: number;
  readonly attached: Promise<void>;
}

/** The channels that this node listens to, each once, however many listeners it has here. */
export class Subscriptions {
  readonly #channels = new Map<string, Attachment>();

  /** @param everybody the channel that is always listened to */
  constructor(
    private readonly connection: Connection,
    private readonly everybody: string,
  ) {}

  /**
   * Resolves once Redis has confirmed it, at once when Redis is away, and after `ATTACH_MS` at the latest. Never
   * rejects.
   */
  async add(channel: string): Promise<void> {
    const known = this.#channels.get(channel);
    const attachment = known ?? { count: 0, attached: this.#subscribe([channel]) };
    attachment.count += 1;
    if (known === undefined) this.#channels.set(channel, attachment);
    await attachment.attached;
  }

  remove(channel: string): void {
    const attachment = this.#channels.get(channel);
    if (attachment === undefined) return;
    attachment.count -= 1;
    if (attachment.count > 0) return;
    this.#channels.delete(channel);
    // When it fails the connection is lost, and the subscription with it.
    if (this.connection.isReady) this.connection.client.unsubscribe(channel).catch(() => undefined);
  }

  /** Subscribes to everything again, on a new connection. Never rejects. */
  async restore(): Promise<void> {
    const channels = [this.everybody, ...this.#channels.keys()];
    for (let from = 0; from < channels.length; from += BATCH) {
      await this.#subscribe(channels.slice(from, from + BATCH));
    }
  }

  async #subscribe(channels: readonly string[]): Promise<void> {
    if (!this.connection.isReady) return;
    let timer: NodeJS.Timeout | undefined;
    // An answer may never come: then the connection is lost, and what is missing is restored on the next one.
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ATTACH_MS);
    });
    const answer = this.connection.client.subscribe(...channels).then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([answer, patience]);
    clearTimeout(timer);
  }
}
