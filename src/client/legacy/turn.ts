import { passes } from '../delivery.js';
import { type ClientError } from '../error.js';
import type { InnerEvent } from '../inner-event.js';
import { textOf, isObject } from '../json.js';
import { Backoff, isAborted } from '../pacing.js';
import type { JsonObject, SessionState, ToolProgress, WireEvent } from '../types.js';
import type { LegacyCalls } from './calls.js';

/** How often a message is sent until its loss is final. */
const ATTEMPTS = 12;

/** What happens to one message; `accepted` once, when it is stored. `left`: its stream is not read any more. */
export type TurnStep = InnerEvent | { readonly type: 'accepted' } | { readonly type: 'left' };

/**
 * Sends one message over the legacy surface, and follows its stream to its end. When the stream breaks off, the same
 * message is sent with the same key, whereupon the service streams that very turn from its beginning; what was told
 * before is passed over.
 */
export class LegacyTurn {
  #isAccepted = false;
  #hasBegun = false;
  #isLost = false;
  /** As told so far, over all streams. */
  #told = '';
  /** As the present stream tells it. */
  #stream = '';
  readonly #tools = new Set<string>();
  /** The failure that the stream before this one ended with, when nothing was told after it. */
  #failure: string | undefined;

  constructor(
    private readonly calls: LegacyCalls,
    private readonly text: string,
    /** The message's idempotency key, which is the turn's name here: the surface gives it none. */
    readonly id: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Ends with `turn_ended`, or when the signal aborts. @throws ClientError when the message is refused */
  async *run(): AsyncGenerator<TurnStep, void, undefined> {
    try {
      yield* this.#follow();
    } finally {
      this.calls.over(this.id);
    }
  }

  async *#follow(): AsyncGenerator<TurnStep, void, undefined> {
    const backoff = new Backoff();
    for (let made = 1; !isAborted(this.signal); made++) {
      let failure: ClientError | undefined;
      try {
        const stream = await this.calls.chat(this.text, this.id, this.signal);
        backoff.reset();
        yield* this.#opened();
        const end = yield* this.#read(stream);
        if (end !== undefined && (yield* this.#conclude(end))) return;
      } catch (error) {
        if (isAborted(this.signal)) return;
        if (!passes(error) || (!this.#isAccepted && made >= ATTEMPTS)) throw error;
        failure = error;
      }
      if (!this.#isLost) yield { type: 'connection', state: 'lost' };
      this.#isLost = true;
      await backoff.pause(this.signal, failure?.retryAfterMs ?? null);
    }
  }

  *#opened(): Generator<TurnStep> {
    if (!this.#isAccepted) {
      this.calls.accepted(this.id);
      yield { type: 'accepted' };
    }
    if (!this.#isAccepted || this.#isLost) yield { type: 'connection', state: 'open' };
    this.#isAccepted = true;
    this.#isLost = false;
    this.#stream = '';
  }

  async *#read(
    stream: AsyncIterable<WireEvent>,
  ): AsyncGenerator<TurnStep, { error: string | undefined } | undefined> {
    for await (const { data } of stream) {
      const type = textOf(data, 'type');
      if (type === 'complete') return { error: undefined };
      if (type === 'error') return { error: textOf(data, 'message') };
      if (type === 'text') yield* this.#hear(textOf(data, 'content'));
      else yield* this.#hearTool(data);
    }
    return undefined;
  }

  /**
   * True: the turn is over. An error may also say that the stream ends before its turn does, or cannot show the turn's
   * text.
   */
  async *#conclude({ error }: { error: string | undefined }): AsyncGenerator<TurnStep, boolean> {
    const state = await this.calls.state(this.signal);
    // The reason of a failed turn is in the state.
    const hasFailed = state.messages.some(({ sender, content }) => sender === 'system' && content === error);
    // The same again, from its beginning and with nothing new: this is the turn's own end.
    const isRepeated = error !== undefined && error === this.#failure;
    if (error !== undefined && !hasFailed && !isRepeated) {
      this.#failure = error;
      return false;
    }
    if (!this.#hasBegun) yield* this.#begin();
    yield { type: 'state', state };
    yield { type: 'turn_ended', turnId: this.id, ...this.#outcome(error, state) };
    return true;
  }

  #outcome(
    error: string | undefined,
    state: SessionState,
  ): { status: 'complete' | 'interrupted' | 'failed'; error?: string } {
    if (error !== undefined) return { status: 'failed', error };
    return { status: state.status === 'interrupted' ? 'interrupted' : 'complete' };
  }

  *#begin(): Generator<TurnStep> {
    this.#hasBegun = true;
    yield { type: 'turn_started', turnId: this.id };
  }

  *#hear(content: string): Generator<TurnStep> {
    if (!this.#hasBegun) yield* this.#begin();
    this.#stream += content;
    if (this.#told.startsWith(this.#stream)) return;
    if (!this.#stream.startsWith(this.#told)) {
      // It was made anew after a crash.
      this.#told = '';
      yield* this.#begin();
    }
    this.#failure = undefined;
    const offset = this.#told.length;
    this.#told = this.#stream;
    yield { type: 'text', turnId: this.id, content: this.#stream.slice(offset), offset };
  }

  *#hearTool(data: JsonObject): Generator<TurnStep> {
    if (!this.#hasBegun) yield* this.#begin();
    const tool = toolOf(data);
    const once = `${tool.status} ${tool.callId}`;
    if (this.#tools.has(once)) return;
    this.#tools.add(once);
    this.#failure = undefined;
    yield tool;
  }
}

/** A frame of a call, or of its result. */
function toolOf(data: JsonObject): ToolProgress {
  const call = { type: 'tool', callId: textOf(data, 'call_id'), name: textOf(data, 'name') } as const;
  if (textOf(data, 'type') === 'tool_call')
    return { ...call, status: 'running', ...(isObject(data.args) && { args: data.args }) };
  const { result = null } = data;
  return {
    ...call,
    status: 'complete',
    result: typeof result === 'string' ? result : JSON.stringify(result),
  };
}
