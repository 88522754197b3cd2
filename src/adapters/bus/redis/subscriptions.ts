import type { Connection } from './connection.js';

/** Timeout of a subscription, in milliseconds. */
const ATTACH_MS = 1_000;
/** How many channels one command names. */
const BATCH = 500;
/**
 * How long a channel without listeners stays subscribed, at least, in milliseconds: a listener often follows at once, and
 * one command ends the subscriptions of many. Not longer, because Redis sends its signals until then.
 */
const LINGER_MS = 50;

interface Attachment {
  count: number;
  /** True once it had no listeners at the last look. */
  isIdle: boolean;
  readonly attached: Promise<unknown>;
}

/** The channels that this node subscribes to, with reference counts: one subscription serves all local listeners. */
export class Subscriptions {
  readonly #channels = new Map<string, Attachment>();
  /** The channels of the next `SUBSCRIBE`, and its reply. */
  #next: { readonly channels: string[]; readonly reply: Promise<unknown> } | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param everybody the channel that is always subscribed to
   * @param onFailed called when a subscription fails
   */
  constructor(
    private readonly connection: Connection,
    private readonly everybody: string,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  /**
   * Adds a reference to a channel. Resolves when Redis has confirmed the subscription, immediately when Redis is
   * unavailable, and after `ATTACH_MS` at the latest. Never rejects.
   */
  async add(channel: string): Promise<void> {
    const known = this.#channels.get(channel);
    const attachment = known ?? { count: 0, isIdle: false, attached: this.#subscribeSoon(channel) };
    attachment.count += 1;
    attachment.isIdle = false;
    if (known === undefined) this.#channels.set(channel, attachment);
    await attachment.attached;
  }

  remove(channel: string): void {
    const attachment = this.#channels.get(channel);
    if (attachment === undefined) return;
    attachment.count -= 1;
    if (attachment.count > 0) return;
    this.#timer ??= setInterval(() => {
      this.#sweep();
    }, LINGER_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Subscribes to all channels again. Returns false if not all are confirmed. Never rejects. */
  async restore(): Promise<boolean> {
    const channels = [this.everybody, ...this.#channels.keys()];
    let isComplete = true;
    for (let from = 0; from < channels.length; from += BATCH) {
      isComplete = (await this.#subscribe(channels.slice(from, from + BATCH))) && isComplete;
    }
    return isComplete;
  }

  /** Ends the subscriptions that had no listeners at the last look and have none now. */
  #sweep(): void {
    const idle: string[] = [];
    for (const [channel, attachment] of this.#channels) {
      if (attachment.count > 0) continue;
      if (attachment.isIdle) {
        this.#channels.delete(channel);
        idle.push(channel);
      }
      attachment.isIdle = true;
    }
    for (let from = 0; from < idle.length && this.connection.isReady; from += BATCH) {
      // If the command fails, the connection is lost and the subscription ends with it.
      this.connection.client.unsubscribe(...idle.slice(from, from + BATCH)).catch(() => undefined);
    }
  }

  /** Subscribes with the other channels of this iteration of the event loop. */
  #subscribeSoon(channel: string): Promise<unknown> {
    if (this.#next === undefined || this.#next.channels.length === BATCH) {
      const channels: string[] = [];
      const reply = new Promise<unknown>((resolve) => {
        setImmediate(() => {
          if (this.#next?.channels === channels) this.#next = undefined;
          resolve(this.#subscribe(channels));
        });
      });
      this.#next = { channels, reply };
    }
    this.#next.channels.push(channel);
    return this.#next.reply;
  }

  /** Returns whether Redis has confirmed the subscriptions. Never rejects. */
  async #subscribe(channels: readonly string[]): Promise<boolean> {
    if (!this.connection.isReady) return false;
    let timer: NodeJS.Timeout | undefined;
    // The reply may never arrive: then the connection is lost, and `restore` subscribes again on the next one.
    const timeout = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, ATTACH_MS, false);
    });
    const reply = this.connection.client.subscribe(...channels).then(
      () => true,
      (error: unknown) => {
        this.onFailed(error);
        return false;
      },
    );
    const isConfirmed = await Promise.race([reply, timeout]);
    clearTimeout(timer);
    return isConfirmed;
  }
}
