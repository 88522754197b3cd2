import { afterGap } from '../after-gap.js';
import { mayRetry } from '../delivery.js';
import type { InnerEvent } from '../inner-event.js';
import { textOf } from '../json.js';
import { LiveText } from '../live-text.js';
import { Backoff, isAborted, linked, pause } from '../pacing.js';
import type { Queue } from '../queue.js';
import { showTool } from '../tool-event.js';
import type { JsonObject, SessionState, ToolProgress, WireEvent } from '../types.js';
import type { LegacyCalls } from './calls.js';
import type { TurnStep } from './turn.js';

/**
 * Intervals in milliseconds for polling the state: while a turn runs that this client does not stream, and otherwise.
 */
const BUSY_MS = 700;
const IDLE_MS = 5_000;

/**
 * Follows a session over the legacy surface: the updates stream for titles, notices and tools; the chat streams for
 * this client's own turns; polling of the state for all other turns.
 */
export class LegacyFollower {
  #cursor: number | undefined;
  #last: SessionState | undefined;
  /** The title and body of the last emitted state, to skip unchanged states. */
  #shown = '';
  /** This client's turn that is being streamed. */
  #own: string | undefined;
  /** The message of that turn. */
  #message = '';
  /** The turn of another client that runs according to the state. */
  #foreign: string | undefined;
  #foreignCount = 0;
  readonly #text = new LiveText();
  /** This client's turns that were accepted and have not started. */
  readonly #waiting = new Set<string>();
  /** Steps of this client's later turns, held back until the current one is finished. */
  readonly #later: (readonly [turnId: string, step: TurnStep, message: string])[] = [];
  /** The statuses of tool calls that were already emitted. */
  readonly #tools = new Set<string>();
  /** True until a state was read that was requested after the streamed turn had started. An older one may lack text. */
  #isStale = false;
  #poll = linked();
  #onFirst: () => void = () => undefined;
  /** Resolves after the first attempt to read the state. */
  readonly #first = new Promise<void>((resolve) => {
    this.#onFirst = resolve;
  });

  constructor(
    private readonly calls: LegacyCalls,
    private readonly signal: AbortSignal,
    private readonly queue: Queue<InnerEvent>,
  ) {}

  start(): void {
    const fail = (error: unknown): void => {
      this.queue.fail(error);
    };
    this.#follow().catch(fail);
    this.#readStates().catch(fail);
  }

  /** Processes a step of a turn that this client has started with a message. */
  receiveOwn(turnId: string, step: TurnStep, message: string): void {
    const isProgress = !['accepted', 'connection', 'left'].includes(step.type);
    // The previous turn has ended, too, but its final state is still being read.
    if (isProgress && this.#own !== undefined && this.#own !== turnId)
      this.#later.push([turnId, step, message]);
    else this.#receiveNow(turnId, step, message);
  }

  #receiveNow(turnId: string, step: TurnStep, message: string): void {
    switch (step.type) {
      case 'accepted':
        this.#waiting.add(turnId);
        this.pollNow();
        return;
      case 'connection':
        // The updates stream reports the connection.
        return;
      case 'turn_started':
        this.#endForeign('complete');
        this.#waiting.delete(turnId);
        this.#own = turnId;
        this.#message = message;
        this.#begin(turnId);
        this.queue.push(step);
        return;
      case 'text':
        this.#text.receive(step.content);
        if (!this.#isStale) this.#more();
        return;
      case 'turn_ended':
        // Not of a turn that had started before.
        if (this.#own === turnId || this.#waiting.has(turnId)) this.queue.push(step);
        this.#leave(turnId);
        return;
      case 'left':
        // The polled state will show the rest of a turn that has started.
        if (this.#own === turnId) this.#foreign = turnId;
        this.#leave(turnId);
        return;
      case 'state':
        this.#show(step.state, turnId);
        return;
      case 'tool':
        this.#receiveOwnTool(step);
        return;
      case 'title':
      case 'notice':
        this.queue.push(step);
    }
  }

  #begin(turnId: string): void {
    if (this.#text.turnId === turnId) {
      this.#text.restart();
      return;
    }
    this.#text.begin(turnId);
    this.#isStale = true;
    this.pollNow();
  }

  #leave(turnId: string): void {
    this.#waiting.delete(turnId);
    if (this.#own !== turnId) return;
    this.#own = undefined;
    this.#isStale = false;
    this.#text.end();
    this.pollNow();
    for (const held of this.#later.splice(0)) this.receiveOwn(...held);
  }

  #receiveOwnTool(tool: ToolProgress): void {
    const once = `${tool.status} ${tool.callId}`;
    // Already emitted from the updates stream; emitted again only to add the arguments.
    if (this.#tools.has(once) && tool.args === undefined) return;
    // The chat stream shows a failed call as complete; the updates stream has reported the failure.
    if (tool.status === 'complete' && this.#tools.has(`failed ${tool.callId}`)) return;
    this.#tools.add(once);
    this.queue.push(tool);
  }

  #more(): void {
    const { turnId } = this.#text;
    const piece = this.#text.take();
    if (turnId !== undefined && piece !== undefined) this.queue.push({ type: 'text', turnId, ...piece });
  }

  async #follow(): Promise<void> {
    const backoff = new Backoff();
    let isLost = false;
    await this.#first;
    while (!isAborted(this.signal)) {
      let wait: number | null = null;
      try {
        const stream = await this.calls.updates(this.#cursor, this.signal);
        isLost = false;
        this.queue.push({ type: 'connection', state: 'open' });
        this.#shown = '';
        this.pollNow();
        for await (const event of stream) {
          this.#receive(event);
        }
      } catch (error) {
        if (isAborted(this.signal)) return;
        if (!mayRetry(error)) throw error;
        wait = error.retryAfterMs;
      }
      if (!isLost) this.queue.push({ type: 'connection', state: 'lost' });
      isLost = true;
      await backoff.pause(this.signal, wait);
    }
  }

  #receive({ id, data }: WireEvent): void {
    const position = Number(id);
    if (position <= (this.#cursor ?? 0)) return;
    if (position > 0) this.#cursor = position;
    switch (textOf(data, 'type')) {
      case 'gap':
        this.#cursor = afterGap(this.#cursor, data);
        // The title may have changed in the gap; a stream without a cursor begins with one.
        this.calls.noteTitle(null);
        this.pollNow();
        return;
      case 'title_changed': {
        const title = textOf(data, 'new_title');
        this.calls.noteTitle(title);
        this.queue.push({ type: 'title', title });
        return;
      }
      case 'system_notice':
        this.queue.push({ type: 'notice', message: textOf(data, 'message') });
        return;
      case 'tool_update':
      case 'tool_complete':
        this.#receiveTool(data);
    }
  }

  /**
   * Processes a tool event of the updates stream. Skips events of this client's own turns except failures: the chat
   * streams also have the arguments, but do not report failures.
   */
  #receiveTool(data: JsonObject): void {
    const tool = showTool(data);
    const isOwn = this.#own !== undefined || (this.#waiting.size > 0 && this.#foreign === undefined);
    const once = `${tool.status} ${tool.callId}`;
    const isReported = (isOwn && tool.status !== 'failed') || this.#tools.has(once);
    if (tool.message === undefined && isReported) return;
    if (tool.message === undefined) this.#tools.add(once);
    this.queue.push(tool);
  }

  async #readStates(): Promise<void> {
    while (!isAborted(this.signal)) {
      this.#poll = linked(this.signal);
      let wait: number | null = null;
      try {
        const own = this.#own;
        const state = await this.calls.state(this.signal);
        this.#show(state, own);
      } catch (error) {
        if (isAborted(this.signal)) return;
        // The updates stream reports the lost connection.
        if (!mayRetry(error)) throw error;
        wait = error.retryAfterMs;
        // Rather repeated text than none until the service allows to read the state.
        if (wait !== null) {
          this.#place();
          this.#more();
        }
      }
      this.#onFirst();
      const isBusy = this.#isStale || (this.#last?.status === 'processing' && this.#own === undefined);
      await pause(Math.max(isBusy ? BUSY_MS : IDLE_MS, wait ?? 0), this.#poll.signal);
      this.#poll.abort();
    }
  }

  /** Reads the state now, or again if it is being read. */
  pollNow(): void {
    this.#poll.abort();
  }

  /** @param own this client's turn that was being streamed when the state was requested */
  #show(state: SessionState, own: string | undefined): void {
    this.#last = state;
    const shown = JSON.stringify([state.title, state.raw]);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#text.cover(state);
      this.queue.push({ type: 'state', state });
    }
    if (!this.calls.areSending) this.#text.skipEnded(state);
    if (own === this.#own) this.#place();
    if (!this.#isStale) this.#more();
    const isBusy = state.status === 'processing';
    if (isBusy && this.#own === undefined && this.#foreign === undefined && this.#waiting.size === 0) {
      this.#foreign = `turn-${String(++this.#foreignCount)}`;
      this.queue.push({ type: 'turn_started', turnId: this.#foreign });
    }
    if (!isBusy) this.#endForeign(state.status === 'interrupted' ? 'interrupted' : 'complete');
  }

  /** Finds the streamed turn in the last state. */
  #place(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#text.placeBy(this.#message);
  }

  #endForeign(status: 'complete' | 'interrupted'): void {
    if (this.#foreign !== undefined) this.queue.push({ type: 'turn_ended', turnId: this.#foreign, status });
    this.#foreign = undefined;
  }
}
