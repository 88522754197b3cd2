import type { Connection } from './connection.js';

/** Timeout of a subscription, in milliseconds. */
const ATTACH_MS = 1_000;
/** How many channels one `SUBSCRIBE` command names. */
const BATCH = 500;

interface Attachment {
  count: number;
  readonly attached: Promise<void>;
}

/** The channels that this node subscribes to, with reference counts: one subscription serves all local listeners. */
export class Subscriptions {
  readonly #channels = new Map<string, Attachment>();

  /** @param everybody the channel that is always subscribed to */
  constructor(
    private readonly connection: Connection,
    private readonly everybody: string,
  ) {}

  /**
   * Adds a reference to a channel. Resolves when Redis has confirmed the subscription, immediately when Redis is
   * unavailable, and after `ATTACH_MS` at the latest. Never rejects.
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
    // If the command fails, the connection is lost and the subscription ends with it.
    if (this.connection.isReady) this.connection.client.unsubscribe(channel).catch(() => undefined);
  }

  /** Subscribes to all channels again, on a new connection. Never rejects. */
  async restore(): Promise<void> {
    const channels = [this.everybody, ...this.#channels.keys()];
    for (let from = 0; from < channels.length; from += BATCH) {
      await this.#subscribe(channels.slice(from, from + BATCH));
    }
  }

  async #subscribe(channels: readonly string[]): Promise<void> {
    if (!this.connection.isReady) return;
    let timer: NodeJS.Timeout | undefined;
    // The reply may never arrive: then the connection is lost, and `restore` subscribes again on the next one.
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ATTACH_MS);
    });
    const reply = this.connection.client.subscribe(...channels).then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([reply, timeout]);
    clearTimeout(timer);
  }
}
