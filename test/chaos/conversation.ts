import type { Figures } from './figures.js';
import { Random } from './random.js';
import { markerIn, type Script } from './script.js';
import type { ShownMessage } from './shapes.js';

/** What a command changes beside the service holds on every node so long after. */
const CLI_MS = 5_000;

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
  /** Requests that carry it, under way. */
  underway: number;
  /** It was on its way while its session was deleted, and so may be stored again. */
  mayReturn: boolean;
  /** What legacy streams of it said from beginning to end. */
  readonly streams: Streamed[];
}

/** A legacy stream that was read to its end. */
export interface Streamed {
  readonly text: string;
  readonly calls: readonly string[];
  readonly end: 'complete' | 'error';
  /** It may have shown more than is kept, if it was interrupted. */
  readonly mayBeLonger: boolean;
}

/** A deletion of a session, as its client knows it. */
export interface Removal {
  readonly startedAt: number;
  /** When it was acknowledged; null: not yet, or never. */
  ackedAt: number | null;
}

/** A session as its client knows it. */
export class Conversation {
  readonly sent: SentMessage[] = [];
  /** Every event that any follower saw, by id. */
  readonly events = new Map<number, string>();
  /** What streams of updates said of turns that completed, by the marker of the message. */
  readonly followed: { readonly follower: string; readonly marker: string; readonly text: string }[] = [];
  /** Titles given by a person, in order. */
  readonly titles: string[] = [];
  /** Null: nobody deletes it. */
  removal: Removal | null = null;
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
    private readonly script: Script,
    private readonly figures: Figures,
    /** For how long a node may show what was so before. */
    private readonly staleMs: number,
  ) {}

  /** True when a message was acknowledged before the session was deleted, so that nobody may see it afterwards. */
  isDeleted({ ackedAt, mayReturn }: SentMessage): boolean {
    if (mayReturn || !this.removal?.ackedAt) return false;
    return ackedAt !== null && ackedAt < this.removal.startedAt;
  }

  /** The next message, its choices a function of the seed and its marker. */
  compose(): SentMessage {
    const marker = `${this.name}n${String(this.sent.length + 1)}`;
    const random = new Random(this.script.seed, 'message', marker);
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
      underway: 0,
      mayReturn: false,
      streams: [],
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
    this.#readTexts(messages, from);
    const users = messages.filter(({ sender }) => sender === 'user').map(({ content }) => content);
    const { removal } = this;
    const since = askedAt - this.staleMs;
    for (const sent of this.sent) {
      if (sent.ackedAt === null || sent.ackedAt >= since || isProcessing) continue;
      if (users.includes(sent.text) || removal !== null) sent.hasEnded = true;
    }
    if (removal !== null) {
      if (removal.ackedAt === null || removal.ackedAt >= askedAt - Math.max(this.staleMs, CLI_MS)) return;
      const undead = this.sent.filter((sent) => this.isDeleted(sent) && users.includes(sent.text));
      const shown = undead.map(({ marker }) => marker).join(' ');
      if (shown !== '') this.figures.fault('undead', `${this.name} ${this.id} (${from}): shows ${shown}`);
      return;
    }
    if (new Set(users).size !== users.length) wrong('a message is there twice');
    for (const { ackedAt, text, marker } of this.sent) {
      if (ackedAt !== null && ackedAt < since && !users.includes(text)) wrong(`${marker} is missing`);
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
  }

  /** Each message of the assistant is one response of the model, or its beginning, of one attempt. */
  #readTexts(messages: readonly ShownMessage[], from: string): void {
    for (const { sender, content } of messages) {
      if (sender !== 'agent' || content === '') continue;
      const { segments, mixed, wrong } = this.script.read(content);
      const where = `${this.name} ${this.id} (${from})`;
      for (const what of mixed) this.figures.fault('mixed', `${where}: ${what}`);
      for (const what of wrong) this.figures.fault('snapshot', `${where}: ${what}`);
      if (segments.length > 1 && mixed.length === 0) {
        this.figures.fault('snapshot', `${where}: a message holds ${String(segments.length)} steps`);
      }
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
