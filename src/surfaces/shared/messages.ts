/** Encodes the messages of a snapshot as JSON. Settled records never change, so each is encoded only once. */
import { resultText, type Message } from '../../core/model/message.js';
import type { OpenTurnView, Snapshot } from '../../core/model/snapshot.js';

interface Encoded {
  /** JSON in pieces, so that settled messages are not copied. */
  readonly json: readonly Buffer[];
  /** The number of messages in the thread. */
  readonly total: number;
}

/** The JSON around an array of messages. */
interface Surroundings {
  readonly start: Buffer;
  readonly end: string;
}

/**
 * Encodes the messages of a snapshot as a comma-separated list, between `start` and `end`.
 * @param tail number of last messages to include; absent: all
 */
export type EncodeMessages = (snapshot: Snapshot, around: Surroundings, tail?: number) => Encoded;

/** Yields the messages that a snapshot shows of a record, each as JSON. */
export type EncodeRecord = (record: Message) => Iterable<string>;

/** Counts the messages that a snapshot of the whole thread would show before those of its records. */
type CountSkipped = (snapshot: Snapshot) => number;

const COMMA = Buffer.from(',');

/** How many bytes of encodings all surfaces together keep. The session cache counts only the text of messages. */
const MAX_KEPT_BYTES = 134_217_728;
/** What an encoding counts for besides its bytes: empty threads have one too. */
const OVERHEAD_BYTES = 500;

/** Limits the size of the encodings that are kept: drops the least recently used ones, and those of threads that are gone. */
export class KeptEncodings {
  readonly #encodings = new Set<SettledMessages>();
  readonly #gone = new FinalizationRegistry<SettledMessages>((encoding) => {
    this.#drop(encoding);
  });
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Drops the encoding of a list of messages once the list was removed from memory. */
  dropWith(settled: readonly Message[], encoding: SettledMessages): void {
    this.#gone.register(settled, encoding);
  }

  /** Counts an encoding that has grown by some bytes, as the most recently used one. It stays, whatever its size. */
  use(encoding: SettledMessages, grown: number): void {
    if (!this.#encodings.delete(encoding)) this.#bytes += OVERHEAD_BYTES;
    this.#encodings.add(encoding);
    this.#bytes += grown;
    if (this.#bytes <= this.maxBytes) return;
    for (const oldest of this.#encodings) {
      if (this.#bytes <= this.maxBytes || oldest === encoding) return;
      this.#drop(oldest);
    }
  }

  #drop(encoding: SettledMessages): void {
    if (this.#encodings.delete(encoding)) this.#bytes -= OVERHEAD_BYTES + encoding.drop();
  }
}

const keptByAll = new KeptEncodings(MAX_KEPT_BYTES);

/** Creates an encoder that keeps the encodings of settled messages. */
export function createMessageEncoder(
  encodeOne: EncodeRecord,
  countSkipped: CountSkipped,
  keptEncodings: KeptEncodings = keptByAll,
): EncodeMessages {
  const encodings = new WeakMap<readonly Message[], SettledMessages>();
  return (snapshot, { start, end }, tail = Infinity) => {
    const { settled, settledCount, open } = snapshot;
    let kept = encodings.get(settled);
    if (kept === undefined) {
      encodings.set(settled, (kept = new SettledMessages(encodeOne)));
      keptEncodings.dropWith(settled, kept);
    }
    keptEncodings.use(kept, kept.follow(settled));

    const fresh = open.flatMap((turn) => encodeOpenTurn(turn, encodeOne));
    const before = kept.messagesOf(settledCount);
    const total = countSkipped(snapshot) + before + fresh.length;
    const shown = fresh.slice(Math.max(fresh.length - tail, 0)).join(',');
    const old = kept.slice(Math.max(before - Math.max(tail - fresh.length, 0), 0), before);
    const comma = old.length > 0 && shown !== '' ? ',' : '';
    return { json: [start, old, Buffer.from(comma + shown + end)], total };
  };
}

/** The encoding of a growing array of records: messages joined by commas. */
class SettledMessages {
  private bytes = Buffer.alloc(0);
  private used = 0;
  /** The end offset of each message in `bytes`. */
  private ends: number[] = [];
  /** The number of messages up to and including each record. */
  private counts: number[] = [];

  constructor(private readonly encodeOne: EncodeRecord) {}

  /** Returns the number of messages in the first `records` records. */
  messagesOf(records: number): number {
    return this.counts[records - 1] ?? 0;
  }

  /** Encodes the records that were added since the last call, and returns by how many bytes the encoding has grown. */
  follow(settled: readonly Message[]): number {
    if (this.counts.length === settled.length) return 0;
    const before = this.bytes.length;
    for (const record of settled.slice(this.counts.length)) {
      for (const message of this.encodeOne(record)) this.append(Buffer.from(message));
      this.counts.push(this.ends.length);
    }
    return this.bytes.length - before;
  }

  /** Drops the encoding, which is then made again when it is needed, and returns its size in bytes. */
  drop(): number {
    const { length } = this.bytes;
    this.bytes = Buffer.alloc(0);
    this.used = 0;
    this.ends = [];
    this.counts = [];
    return length;
  }

  /** Returns the messages from index `first` to before `end`, joined by commas. */
  slice(first: number, end: number): Buffer {
    if (first >= end) return this.bytes.subarray(0, 0);
    const before = this.ends[first - 1];
    return this.bytes.subarray(before === undefined ? 0 : before + 1, this.ends[end - 1]);
  }

  private append(message: Buffer): void {
    const separated = this.used === 0 ? [message] : [COMMA, message];
    const needed = this.used + message.length + 1;
    if (needed > this.bytes.length) {
      // Allocates a new buffer, because earlier responses may still reference the old one.
      const larger = Buffer.alloc(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    for (const part of separated) this.used += part.copy(this.bytes, this.used);
    this.ends.push(this.used);
  }
}

function encodeOpenTurn({ messages, streaming }: OpenTurnView, encodeOne: EncodeRecord): string[] {
  const fragments = messages.flatMap((record) => [...encodeOne(record)]);
  if (streaming !== null)
    fragments.push(encodeMessage('agent', streaming.text, streaming.since, { isStreaming: true }));
  return fragments;
}

/** Yields the text of a record, if any, and then one message for each tool result. */
export function* encodeRecord({ role, content, createdAt, toolResults }: Message): Generator<string> {
  const sender = role === 'assistant' ? 'agent' : role;
  if (content !== '' || role !== 'assistant') yield encodeMessage(sender, content, createdAt);
  for (const { name, result, at = createdAt } of toolResults ?? []) {
    yield encodeMessage('agent', '', at, { toolResult: [name, resultText(result)] });
  }
}

/** Encodes one message. */
export function encodeMessage(
  sender: 'user' | 'agent' | 'system',
  content: string,
  at: number,
  {
    isStreaming = false,
    toolResult = null,
  }: { isStreaming?: boolean; toolResult?: [string, string] | null } = {},
): string {
  const timestamp = new Date(at).toISOString();
  return JSON.stringify({ sender, content, timestamp, is_streaming: isStreaming, tool_result: toolResult });
}

/** Encodes the messages of a snapshot, one for each text and each tool result. */
export const encodeMessages = createMessageEncoder(encodeRecord, ({ skipped }) => skipped);
