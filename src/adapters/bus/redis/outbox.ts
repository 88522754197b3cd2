import type { Connection } from './connection.js';
import { encode, type Carried } from './wire.js';

/** A signal larger than this, in bytes, is not sent: other nodes receive `missed` instead and read the store. */
export const MAX_SIGNAL = 8_192;
/** Approximate size limit of one message to Redis, in characters. */
const MAX_MESSAGE = 65_536;
/** How many characters may be queued, and may be sent but not yet acknowledged by Redis. */
const MAX_WAITING = 1_048_576;
const MAX_IN_FLIGHT = 4_194_304;

const MISSED = JSON.stringify({ type: 'missed' } satisfies Carried);

/**
 * Queues signals for other nodes and sends those of one event loop iteration in one batch, with one message per channel
 * if they fit. The queue is bounded: when it overflows it is dropped, and a `missed` goes to every node.
 */
export class Outbox {
  readonly #waiting = new Map<string, string[]>();
  #size = 0;
  #inFlight = 0;
  /** Counts connections, so that acknowledgments of an earlier connection are ignored. */
  #epoch = 0;
  #hasDropped = false;
  #isScheduled = false;

  /** @param everybody the channel that every node subscribes to */
  constructor(
    private readonly node: string,
    private readonly connection: Connection,
    private readonly everybody: string,
  ) {}

  add(channel: string, signal: Carried): void {
    let entry = JSON.stringify(signal);
    if (entry.length > MAX_SIGNAL / 3 && Buffer.byteLength(entry) > MAX_SIGNAL) entry = MISSED;
    const entries = this.#waiting.get(channel);
    if (entries === undefined) this.#waiting.set(channel, [entry]);
    // Consecutive `missed` entries are merged.
    else if (entry !== MISSED || entries.at(-1) !== MISSED) entries.push(entry);
    this.#size += entry.length;
    if (this.#size > MAX_WAITING) this.#drop();
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
    this.#isScheduled = false;
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
    const arrived = (): void => {
      if (epoch !== this.#epoch) return;
      const wasFull = this.#inFlight > MAX_IN_FLIGHT;
      this.#inFlight -= size;
      if (wasFull) this.#schedule();
    };
    pipeline.exec().then(arrived, arrived);
  }

  *#messages(entries: readonly string[]): Generator<string> {
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
    if (this.#isScheduled || !this.connection.isReady) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.flush();
    });
  }

  #drop(): void {
    this.#waiting.clear();
    this.#size = 0;
    this.#hasDropped = true;
  }
}
