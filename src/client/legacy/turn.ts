import { mayRetry } from '../delivery.js';
import { type ClientError } from '../error.js';
import type { InnerEvent } from '../inner-event.js';
import { textOf, isObject } from '../json.js';
import { Backoff, isAborted } from '../pacing.js';
import type { JsonObject, SessionState, ToolProgress, WireEvent } from '../types.js';
import type { LegacyCalls } from './calls.js';

/** The service forgets an idempotency key after a day, and would store the message a second time. */
const KEY_MS = 20 * 60 * 60_000;

/** A step of one message's turn. `accepted`: the message is stored. `left`: its stream is no longer read. */
export type TurnStep = InnerEvent | { readonly type: 'accepted' } | { readonly type: 'left' };

/** Receives a step of a turn that this client has started with a message. */
export type Report = (turnId: string, step: TurnStep, message: string) => void;

/**
 * Sends one message over the legacy surface, and follows its stream to the end. When the connection is lost, sends the
 * message again with the same key: the service then streams the same turn from its beginning, and steps that were
 * already emitted are skipped.
 */
export class LegacyTurn {
  #isAccepted = false;
  /** When the message was accepted, in milliseconds since the epoch. */
  #acceptedAt = 0;
  #hasBegun = false;
  #isLost = false;
  /** The text emitted so far, over all streams. */
  #received = '';
  /** The text from the current stream. */
  #stream = '';
  readonly #tools = new Set<string>();
  /** The error that ended the previous stream, if no turn was running then and nothing was emitted since. */
  #failure: string | undefined;

  constructor(
    private readonly calls: LegacyCalls,
    private readonly text: string,
    /** The message's idempotency key, which also serves as the turn's id, because the surface sends none. */
    readonly id: string,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Yields steps until `turn_ended`, or until the signal aborts.
   * @throws ClientError when the message is refused
   */
  async *run(): AsyncGenerator<TurnStep, void, undefined> {
    this.calls.sending(this.id);
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
        if (this.#isAccepted && (yield* this.#mayNotRepeat())) return;
        const stream = await this.calls.chat(this.text, this.id, this.signal);
        yield* this.#opened();
        const end = yield* this.#read(stream);
        if (end !== undefined && (yield* this.#conclude(end))) return;
      } catch (error) {
        if (isAborted(this.signal)) return;
        if (!mayRetry(error, this.#isAccepted, made)) throw error;
        failure = error;
      }
      if (!this.#isLost) yield { type: 'connection', state: 'lost' };
      this.#isLost = true;
      await backoff.pause(this.signal, failure?.retryAfterMs ?? null);
    }
  }

  /**
   * Ends the turn if the accepted message must not be sent again: its thread was deleted, or its key may be forgotten.
   * @returns true when the turn is over
   */
  async *#mayNotRepeat(): AsyncGenerator<TurnStep, boolean> {
    const state = await this.calls.state(this.signal);
    const isDeleted = state.messages.length === 0;
    if (!isDeleted && Date.now() - this.#acceptedAt < KEY_MS) return false;
    yield* this.#end(isDeleted ? 'The thread was deleted.' : undefined, state);
    return true;
  }

  *#opened(): Generator<TurnStep> {
    if (!this.#isAccepted) {
      this.#acceptedAt = Date.now();
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
      if (type === 'text') yield* this.#receive(textOf(data, 'content'));
      else yield* this.#receiveTool(data);
    }
    return undefined;
  }

  /**
   * Decides whether the end of a stream is the end of its turn: an error may also mean that only the stream ended, or
   * that it cannot show the turn's text.
   * @returns true when the turn is over
   */
  async *#conclude({ error }: { error: string | undefined }): AsyncGenerator<TurnStep, boolean> {
    const state = await this.calls.state(this.signal);
    // If the turn failed, the state contains the error.
    const hasFailed = state.messages.some(({ sender, content }) => sender === 'system' && content === error);
    // The same error again after a full replay of a turn that is over is the turn's own end.
    const isRepeated = error === this.#failure;
    // Without any message, the thread was deleted: to send the message again would begin another.
    const isDeleted = state.messages.length === 0;
    if (error !== undefined && !hasFailed && !isRepeated && !isDeleted) {
      if (state.status !== 'processing') this.#failure = error;
      return false;
    }
    yield* this.#end(error, state);
    return true;
  }

  *#end(error: string | undefined, state: SessionState): Generator<TurnStep> {
    if (!this.#hasBegun) yield* this.#begin();
    yield { type: 'state', state };
    const status = state.status === 'interrupted' ? 'interrupted' : 'complete';
    yield {
      type: 'turn_ended',
      turnId: this.id,
      ...(error === undefined ? { status } : { status: 'failed', error }),
    };
  }

  *#begin(): Generator<TurnStep> {
    this.#hasBegun = true;
    yield { type: 'turn_started', turnId: this.id };
  }

  *#receive(content: string): Generator<TurnStep> {
    if (!this.#hasBegun) yield* this.#begin();
    this.#stream += content;
    if (this.#received.startsWith(this.#stream)) return;
    if (!this.#stream.startsWith(this.#received)) {
      // The text was generated again after a crash.
      this.#received = '';
      yield* this.#begin();
    }
    this.#failure = undefined;
    const offset = this.#received.length;
    this.#received = this.#stream;
    yield { type: 'text', turnId: this.id, content: this.#stream.slice(offset), offset };
  }

  *#receiveTool(data: JsonObject): Generator<TurnStep> {
    if (!this.#hasBegun) yield* this.#begin();
    const tool = toolOf(data);
    const once = `${tool.status} ${tool.callId}`;
    if (this.#tools.has(once)) return;
    this.#tools.add(once);
    this.#failure = undefined;
    yield tool;
  }
}

/** Reads an event of a tool call or of its result. */
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
