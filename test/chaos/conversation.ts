import type { Figures } from './figures.js';
import { Random } from './random.js';
import { markerIn } from './script.js';
import type { ShownMessage } from './shapes.js';

/** A user message and what its sender knows of it. */
export interface SentMessage {
  readonly marker: string;
  readonly text: string;
  /** Its Idempotency-Key; null: it is sent once, whatever happens. */
  readonly key: string | null;
  startedAt: number;
  ackedAt: number | null;
  /** The last answer was a refusal. */
  isRefused: boolean;
  /** A try broke off, or was answered by an error that says nothing of what came of it. */
  mayBeStored: boolean;
  /** An interrupt was sent while its turn may have been open. */
  mayBeInterrupted: boolean;
  hasEnded: boolean;
  /** What a legacy stream of it said from beginning to end, if one was read so far. */
  streamed: {
    readonly text: string;
    readonly end: 'complete' | 'error';
    /** It may have shown more than is kept, if it was interrupted. */
    readonly mayBeLonger: boolean;
  } | null;
}

/** A session as its client knows it. */
export class Conversation {
  readonly sent: SentMessage[] = [];
  /** Every event that any follower saw, by id. */
  readonly events = new Map<number, string>();
  /** Deliveries that are not decided yet. */
  sending = 0;
  /** Interrupts under way. */
  interrupting = 0;
  /** When a send was last given up on without an answer. */
  brokenAt = 0;
  etag: { readonly tag: string; readonly body: string } | null = null;
  newestCursor = 0;

  constructor(
    /** `c3s2` */
    readonly name: string,
    readonly id: string,
    private readonly seed: string,
    private readonly figures: Figures,
  ) {}

  /** The next message, its choices a function of the seed and its marker. */
  compose(): SentMessage {
    const marker = `${this.name}n${String(this.sent.length + 1)}`;
    const random = new Random(this.seed, 'message', marker);
    const filler = random.pick([
      '',
      ' Grüße & 100% €',
      ' 橋😀\n\tsecond line',
      ' a=b?c#d+e',
      ' "quoted" \\ back',
    ]);
    const sent: SentMessage = {
      marker,
      text: `Question ${marker}:${filler} please.`,
      key: random.chance(0.65) ? `key-${marker}` : null,
      startedAt: Date.now(),
      ackedAt: null,
      isRefused: false,
      mayBeStored: false,
      mayBeInterrupted: this.interrupting > 0,
      hasEnded: false,
      streamed: null,
    };
    this.sent.push(sent);
    return sent;
  }

  acknowledge(sent: SentMessage): void {
    if (sent.ackedAt === null) this.figures.count('acked');
    sent.ackedAt ??= Date.now();
  }

  get open(): readonly SentMessage[] {
    return this.sent.filter(({ ackedAt, hasEnded }) => ackedAt !== null && !hasEnded);
  }

  get isStored(): boolean {
    return this.sent.some(({ ackedAt }) => ackedAt !== null);
  }

  /** Whatever may be open now may end by this interrupt. Call the result when the interrupt was answered. */
  beginInterrupt(): () => void {
    for (const sent of this.sent) if (!sent.hasEnded) sent.mayBeInterrupted = true;
    this.interrupting++;
    return () => this.interrupting--;
  }

  /** Checks a snapshot that was asked for at a time. */
  compare(messages: readonly ShownMessage[], isProcessing: boolean, askedAt: number, from: string): void {
    const wrong = (what: string): void => {
      const shown = messages.map(({ sender, content, is_streaming }) => [
        sender,
        content.slice(0, 40),
        is_streaming,
      ]);
      this.figures.fault('snapshot', `${this.name} ${this.id} (${from}): ${what}: ${JSON.stringify(shown)}`);
    };
    const users = messages.filter(({ sender }) => sender === 'user').map(({ content }) => content);
    if (new Set(users).size !== users.length) wrong('a message is there twice');
    for (const { ackedAt, text, marker } of this.sent) {
      if (ackedAt !== null && ackedAt < askedAt && !users.includes(text)) wrong(`${marker} is missing`);
    }
    const streaming = messages.filter((message) => message.is_streaming);
    if (streaming.length > 1) wrong('two messages are streaming');
    if (streaming.length > 0 && !isProcessing) wrong('streams while nothing is processed');
    let marker = '';
    for (const { sender, content } of messages) {
      if (sender === 'user') marker = markerIn(content) ?? '';
      const about = sender === 'agent' ? markerIn(content) : undefined;
      if (about !== undefined && about !== marker) wrong(`the answer to ${about} stands behind ${marker}`);
    }
    if (isProcessing) return;
    for (const sent of this.sent) {
      if (sent.ackedAt !== null && sent.ackedAt < askedAt) sent.hasEnded = true;
    }
  }

  /** Notes an event that a follower saw. */
  saw(id: number, content: string, follower: string): void {
    const known = this.events.get(id);
    if (known === undefined) this.events.set(id, content);
    else if (known !== content) {
      this.figures.fault(
        'eventChanged',
        `${this.name} ${this.id} ${follower}: ${String(id)}: ${known} / ${content}`,
      );
    }
  }
}
