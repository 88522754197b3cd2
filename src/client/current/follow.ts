import { afterGap } from '../after-gap.js';
import { mayRetry } from '../delivery.js';
import type { ClientError } from '../error.js';
import type { InnerEvent } from '../inner-event.js';
import { textOf } from '../json.js';
import { LiveText } from '../live-text.js';
import { lastFailure, ordinalOfTurn } from '../messages.js';
import { Backoff, isAborted, linked } from '../pacing.js';
import { Queue } from '../queue.js';
import type { JsonValue, SessionState, WireEvent } from '../types.js';
import type { CurrentCalls, Snapshot } from './calls.js';
import { showTool } from '../tool-event.js';
import { ToolRecords } from './tools.js';

type TurnEnded = Extract<InnerEvent, { type: 'turn_ended' }>;

/** The reader of one turn. */
export interface TurnReader {
  /** Returns false to fail after some attempts while the service is unreachable, true to retry forever. */
  readonly isPatient: () => boolean;
  /** Called when a stream is open, before its events are processed. A failed request counts as a lost connection. */
  readonly onOpen: () => Promise<void>;
}

/**
 * Follows a session over the current surface. The stream provides events. States provide the full picture: at the
 * start, after each lost connection and at the end of each turn. Logged events resume from the cursor. Text of the
 * running turn has no cursor: a new stream and a state both contain it from its beginning, and `LiveText` emits each
 * character once.
 */
export class CurrentFollower {
  #cursor: number | undefined;
  #etag: string | null = null;
  /** A state that is held back until the events that it includes were processed. */
  #held: Snapshot | undefined;
  #last: SessionState | undefined;
  /** The turn whose start was emitted and whose end was not. */
  #open: string | undefined;
  /** How that turn ended, until a state was received after it. */
  #ending: TurnEnded['status'] | undefined;
  /** The last turn whose end was emitted. */
  #over: string | undefined;
  /** The turn whose events the current stream is sending. */
  #streaming: string | undefined;
  /** The unprocessed items of the current stream. */
  #queue: Queue<WireEvent | 'nudge'> | undefined;
  /** Aborts to end the pause before the next stream. */
  #rest = linked();
  readonly #text = new LiveText();
  readonly #records: ToolRecords;

  /** @param reader undefined: all turns are read, and their text is placed in the states */
  constructor(
    private readonly calls: CurrentCalls,
    private readonly signal: AbortSignal,
    private readonly reader?: TurnReader,
  ) {
    this.#records = new ToolRecords(calls, signal);
  }

  /**
   * Yields events until the signal aborts.
   * @throws ClientError when the service refuses a request
   */
  async *run(): AsyncGenerator<InnerEvent, void, undefined> {
    const backoff = new Backoff();
    let isLost = false;
    for (let made = 1; !isAborted(this.signal); made++) {
      let failure: ClientError | undefined;
      const life = linked(this.signal);
      try {
        if (this.#cursor === undefined) yield* this.#readState('now');
        const stream = await this.calls.updates(this.#cursor ?? 0, life.signal);
        isLost = false;
        this.#streaming = undefined;
        yield { type: 'connection', state: 'open' };
        await this.reader?.onOpen();
        yield* this.#follow(stream);
      } catch (error) {
        if (isAborted(this.signal)) return;
        if (!mayRetry(error, this.reader?.isPatient(), made)) throw error;
        failure = error;
      } finally {
        life.abort();
      }
      this.#rest = linked(this.signal);
      if (!isLost) yield { type: 'connection', state: 'lost' };
      isLost = true;
      await backoff.pause(this.#rest.signal, failure?.retryAfterMs ?? null);
      this.#rest.abort();
    }
  }

  async *#follow(stream: AsyncGenerator<WireEvent>): AsyncGenerator<InnerEvent> {
    const queue = new Queue<WireEvent | 'nudge'>();
    this.#queue = queue;
    void pump(stream, queue);
    yield* this.#readState('hold');
    for await (const item of queue) {
      if (item === 'nudge') yield* this.#readState('now');
      else yield* this.#receive(item);
      yield* this.#release();
    }
  }

  /** Reads the state now: there may be a new one. */
  nudge(): void {
    this.#queue?.push('nudge');
    this.#rest.abort();
  }

  /**
   * Reads the state. With `hold`, at the start of a stream, emits it only after the events that it includes were
   * processed; with `now`, emits it at once.
   */
  async *#readState(mode: 'hold' | 'now'): AsyncGenerator<InnerEvent> {
    const snapshot = await this.calls.snapshot(this.reader === undefined ? this.#etag : null, this.signal);
    if (snapshot !== undefined) {
      this.#held = snapshot;
      this.#etag = snapshot.etag;
      this.#cursor ??= snapshot.cursor;
    }
    if (mode === 'now') yield* this.#showHeld();
    else yield* this.#release();
  }

  *#release(): Generator<InnerEvent> {
    // Also without a new state: the end of a turn may be missing that the last one shows.
    if ((this.#cursor ?? 0) >= (this.#held?.cursor ?? 0)) yield* this.#showHeld();
  }

  *#showHeld(): Generator<InnerEvent> {
    if (this.#held !== undefined) {
      const { state } = this.#held;
      this.#held = undefined;
      this.#last = state;
      if (this.reader === undefined) this.#text.cover(state);
      yield { type: 'state', state };
    }
    const last = this.#last;
    // A stream that sends a turn's start also sends its end.
    const isMissed =
      this.reader === undefined && this.#streaming !== this.#open && last?.status !== 'processing';
    const isOver = this.#ending !== undefined || isMissed;
    if (this.#open !== undefined && last !== undefined && isOver) yield this.#end(this.#open, last);
    yield* this.#more();
  }

  /** Returns the end of the open turn; if it was missed, derives it from the state. */
  #end(turnId: string, state: SessionState): TurnEnded {
    const failure = state.errors.at(-1) ?? lastFailure(state);
    const status = this.#ending ?? (state.errors.length > 0 ? 'failed' : 'complete');
    this.#open = undefined;
    this.#ending = undefined;
    this.#over = turnId;
    this.#text.end();
    const isExplained = status === 'failed' && failure !== undefined;
    return { type: 'turn_ended', turnId, status, ...(isExplained && { error: failure }) };
  }

  *#more(): Generator<InnerEvent> {
    if (this.#held === undefined) yield* this.#takeText();
  }

  *#takeText(): Generator<InnerEvent> {
    const turnId = this.#text.turnId;
    const piece = this.#text.take();
    if (turnId !== undefined && piece !== undefined) yield { type: 'text', turnId, ...piece };
  }

  async *#receive({ id, data }: WireEvent): AsyncGenerator<InnerEvent> {
    const position = Number(id);
    if (position <= (this.#cursor ?? 0)) return;
    if (position > 0) this.#cursor = position;
    const turnId = textOf(data, 'turn_id');
    if (turnId !== '' && turnId === this.#over) return;
    switch (textOf(data, 'type')) {
      case 'turn_started':
        yield* this.#begin(turnId);
        return;
      case 'text_delta':
        if (turnId !== this.#text.turnId) return;
        this.#text.receive(
          textOf(data, 'content'),
          typeof data.offset === 'number' ? data.offset : undefined,
        );
        yield* this.#more();
        return;
      case 'turn_ended':
        yield* this.#endTurn(turnId, outcomeOf(data.status));
        return;
      case 'title_changed':
        yield { type: 'title', title: textOf(data, 'new_title') };
        return;
      case 'tool_update':
      case 'tool_complete':
        // Also while a state is held back, so that the call comes after the text before it.
        yield* this.#takeText();
        yield showTool(data, await this.#records.of(data, this.#held));
        return;
      case 'system_notice':
        yield { type: 'notice', message: textOf(data, 'message') };
        return;
      case 'gap':
        this.#cursor = afterGap(this.#cursor, data);
        this.#etag = null;
        yield* this.#readState('now');
    }
  }

  async *#endTurn(turnId: string, status: TurnEnded['status']): AsyncGenerator<InnerEvent> {
    if (turnId !== this.#open) {
      // The turn was cancelled while queued.
      if (this.reader !== undefined) yield* this.#readState('now');
      yield { type: 'turn_ended', turnId, status };
      return;
    }
    this.#ending = status;
    yield* this.#readState('now');
  }

  async *#begin(turnId: string): AsyncGenerator<InnerEvent> {
    if (this.#streaming === turnId) {
      // A new attempt generates the text from its beginning. The state shows the part that is already stored.
      this.#text.begin(turnId);
      // Text of the earlier attempt may have been emitted since the last state.
      this.#etag = null;
      yield* this.#readState('now');
      return;
    }
    const isFirst = this.#streaming === undefined;
    this.#streaming = turnId;
    if (this.#open !== turnId) {
      // The end of the previous turn was missed.
      if (this.#open !== undefined) this.#ending ??= 'complete';
      // The caller may not know the turn's message yet.
      if (this.#open !== undefined || this.reader === undefined) yield* this.#readState('now');
      if (isFirst && this.reader === undefined) {
        // Finds the turn in the state. The stream sends the turns after its first one in their order.
        const { messages } = await this.calls.recent(this.signal);
        this.#text.place(ordinalOfTurn(turnId, this.#last?.messages ?? [], messages));
      }
      this.#open = turnId;
      yield { type: 'turn_started', turnId };
    }
    this.#text.begin(turnId);
  }
}

/** Reads how a turn has ended. */
export function outcomeOf(status: JsonValue | undefined): TurnEnded['status'] {
  return status === 'interrupted' || status === 'failed' ? status : 'complete';
}

/** Moves a stream into a queue until its end. Never rejects: the queue's consumer receives the error. */
async function pump(stream: AsyncIterable<WireEvent>, queue: Queue<WireEvent | 'nudge'>): Promise<void> {
  try {
    for await (const event of stream) queue.push(event);
    queue.close();
  } catch (error) {
    queue.fail(error);
  }
}
