import type { Connection } from './connection.js';
import { encode, type Carried } from './wire.js';

/** A signal larger than this, in bytes, is not sent: other nodes receive `missed` instead and read the store. */
export const MAX_SIGNAL = 8_192;
/** Approximate size limit of one message to Redis, in characters. */
const MAX_MESSAGE = 65_536;
/** How long signals wait for others, in milliseconds: one batch serves all turns of this node. */
const GATHER_MS = 5;
/** The maximum length of joined text, in characters, so that it never exceeds `MAX_SIGNAL`. */
const MAX_JOINED = MAX_SIGNAL / 4;
/** The size of a text entry beside its content, in characters. */
const TEXT_SIZE = 150;
/** How many characters may be queued, and may be sent but not yet acknowledged by Redis. */
const MAX_WAITING = 1_048_576;
const MAX_IN_FLIGHT = 4_194_304;

type Text = Extract<Carried, { type: 'text' }>;

const MISSED = JSON.stringify({ type: 'missed' } satisfies Carried);

/** Text that waits, to which the next piece of the same text is appended. */
class JoinedText {
  content: string;

  constructor(private readonly first: Text) {
    this.content = first.content;
  }

  get length(): number {
    return this.content.length;
  }

  /** Appends the next piece. Returns false when it is not the next one, or too long. */
  join({ turnId, attempt, position, offset, content }: Text): boolean {
    const { first } = this;
    const isNext =
      turnId === first.turnId &&
      attempt === first.attempt &&
      position === first.position &&
      offset === first.offset + this.content.length;
    if (!isNext || this.content.length + content.length > MAX_JOINED) return false;
    this.content += content;
    return true;
  }

  encode(): string {
    return JSON.stringify({ ...this.first, content: this.content });
  }
}

/**
 * Queues signals for other nodes and sends those of a few milliseconds in one batch, with one message per channel if
 * they fit, and with the pieces of a text joined. The queue is bounded: when it overflows it is dropped, and a `missed`
 * goes to every node.
 */
export class Outbox {
  readonly #waiting = new Map<string, (string | JoinedText)[]>();
  #size = 0;
  #inFlight = 0;
  /** Counts connections, so that acknowledgments of an earlier connection are ignored. */
  #epoch = 0;
  #hasDropped = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param everybody the channel that every node subscribes to
   * @param onFailed called when a publication fails
   */
  constructor(
    private readonly node: string,
    private readonly connection: Connection,
    private readonly everybody: string,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  add(channel: string, signal: Carried): void {
    const entries = this.#waiting.get(channel) ?? [];
    if (entries.length === 0) this.#waiting.set(channel, entries);
    const last = entries.at(-1);
    if (signal.type === 'text' && signal.content.length <= MAX_JOINED) {
      const isJoined = last instanceof JoinedText && last.join(signal);
      if (!isJoined) entries.push(new JoinedText(signal));
      this.#size += signal.content.length + (isJoined ? 0 : TEXT_SIZE);
    } else {
      let entry = JSON.stringify(signal);
      if (entry.length > MAX_SIGNAL / 3 && Buffer.byteLength(entry) > MAX_SIGNAL) entry = MISSED;
      this.#size += entry.length;
      if (entry !== MISSED || last !== MISSED) entries.push(entry);
    }
    if (this.#size > MAX_WAITING) this.#drop();
    // An interrupt must take effect without delay.
    else if (signal.type === 'interrupt') this.flush();
    else this.#schedule();
  }

  /** Call when the connection becomes ready. */
  resume(): void {
    this.flush();
  }

  /** Call when the connection is lost: signals that were in flight may not have arrived. */
  suspend(): void {
    if (this.#inFlight > 0) this.#hasDropped = true;
    this.#inFlight = 0;
    this.#epoch += 1;
  }

  /** Sends the queue, unless the connection is down or too much is in flight. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.connection.isReady || this.#inFlight > MAX_IN_FLIGHT) return;
    const pipeline = this.connection.client.pipeline();
    let size = 0;
    if (this.#hasDropped) pipeline.publish(this.everybody, encode(this.node, [MISSED]));
    for (const [channel, entries] of this.#waiting) {
      for (const message of this.#messages(entries)) {
        pipeline.publish(channel, message);
        size += message.length;
      }
    }
    this.#hasDropped = false;
    this.#waiting.clear();
    this.#size = 0;
    if (pipeline.length === 0) return;
    this.#inFlight += size;
    const epoch = this.#epoch;
    const arrived = (error?: Error | null): void => {
      if (epoch !== this.#epoch) return;
      if (error) {
        this.#hasDropped = true;
        this.onFailed(error);
      }
      const wasFull = this.#inFlight > MAX_IN_FLIGHT;
      this.#inFlight -= size;
      if (wasFull) this.#schedule();
    };
    pipeline.exec().then(
      (replies) => {
        arrived(replies?.find(([error]) => error !== null)?.[0]);
      },
      () => {
        arrived();
      },
    );
  }

  /** Publishes an empty message. Resolves to whether Redis has accepted it. Never rejects. */
  probe(): Promise<boolean> {
    return this.connection.client.publish(this.everybody, encode(this.node, [])).then(
      () => true,
      () => false,
    );
  }

  *#messages(waiting: readonly (string | JoinedText)[]): Generator<string> {
    const entries = waiting.map((entry) => (typeof entry === 'string' ? entry : entry.encode()));
    let part: string[] = [];
    let size = 0;
    for (const entry of entries) {
      if (size + entry.length > MAX_MESSAGE && part.length > 0) {
        yield encode(this.node, part);
        part = [];
        size = 0;
      }
      part.push(entry);
      size += entry.length;
    }
    yield encode(this.node, part);
  }

  #schedule(): void {
    if (!this.connection.isReady) return;
    this.#timer ??= setTimeout(() => {
      this.flush();
    }, GATHER_MS);
  }

  #drop(): void {
    this.#waiting.clear();
    this.#size = 0;
    this.#hasDropped = true;
  }
}
