import type { TurnEvent } from '../../src/core/model/event.js';
import type { Flight } from '../../src/core/model/flight.js';
import type { Message, ToolCall, ToolResult } from '../../src/core/model/message.js';
import { UNOBSERVED } from '../../src/core/ports/observer.js';
import { RunningTurn } from '../../src/core/turns/running-turn.js';
import type { ClaimedTurn, Turn, TurnOutcome } from '../../src/core/model/turn.js';

/** One process that works on the turn until it dies; the last one ends it. */
export interface ScriptedAttempt {
  /** The pieces of text of each step that it makes; each but the last step of the last attempt ends with calls. */
  readonly steps: readonly { readonly pieces: readonly string[]; readonly calls: number }[];
  /** Whether the text of its last step is stored as a checkpoint after each piece. */
  readonly checkpoints: readonly boolean[];
  /** Whether it works in the process of the follower. */
  readonly isHere: boolean;
}

/** What happens at one moment: the world has changed, and then this is published. */
export interface Moment {
  readonly events: readonly TurnEvent[];
  /** The number of the attempt that published them, from 0. */
  readonly attempt: number;
}

const base = { id: 'turn', sessionId: 'session', no: 1, app: 'default', clientId: null, keyId: null };

/** A turn as the store and its owner have it, moment by moment. */
export class TurnScript {
  turn: Turn = { ...base, status: 'queued', createdAt: 0, error: null };
  records: Message[] = [];
  flight: Flight | undefined;
  /** The turn in the process of the follower. */
  here: RunningTurn | undefined;
  /** For each attempt, all of the turn's text as it had that in the end. */
  readonly said: string[] = [];

  constructor(
    private readonly attempts: readonly ScriptedAttempt[],
    private readonly outcome: TurnOutcome,
  ) {
    this.records.push(this.#record(0, { role: 'user', content: 'Hi' }));
  }

  *play(): Generator<Moment> {
    for (const [attempt, script] of this.attempts.entries()) {
      const isLast = attempt === this.attempts.length - 1;
      for (const events of this.#work(attempt + 1, script, isLast)) yield { events, attempt };
    }
  }

  *#work(attempt: number, script: ScriptedAttempt, isLast: boolean): Generator<TurnEvent[]> {
    const turnId = this.turn.id;
    const claimed = this.#claim(attempt);
    const running = new RunningTurn(claimed, this.records, UNOBSERVED.started(claimed), 0);
    this.turn = claimed;
    this.here = script.isHere ? running : undefined;
    this.flight = { turnId, attempt, position: running.nextPosition, text: '', leftover: '', since: 0 };
    const before = (): string =>
      this.records.map((record) => (record.position > 0 ? record.content : '')).join('');
    this.said.push(before());
    yield [{ type: 'turn_started', turnId, attempt }];
    for (const [index, { pieces, calls }] of script.steps.entries()) {
      const position = running.nextPosition;
      for (const [number, content] of pieces.entries()) {
        const place = { position, offset: running.text.length, before: running.textBefore };
        running.text += content;
        this.said[attempt - 1] = before() + running.text;
        if (script.checkpoints[number] === true)
          this.flight = { turnId, attempt, position, text: running.text, leftover: '', since: 0 };
        yield [{ type: 'text', turnId, attempt, ...place, content }];
      }
      const isEnd = index === script.steps.length - 1;
      if (isEnd && !isLast) return;
      if (isEnd) break;
      yield* this.#call(running, calls);
    }
    if (running.text !== '')
      this.#put(running, this.#record(running.nextPosition, { content: running.text }));
    this.turn = { ...this.turn, status: this.outcome };
    this.flight = undefined;
    running.text = '';
    running.hasEnded = true;
    this.here = undefined;
    yield [{ type: 'turn_ended', turnId, outcome: this.outcome, error: null }];
  }

  *#call(running: RunningTurn, count: number): Generator<TurnEvent[]> {
    const turnId = this.turn.id;
    const { attempt } = running.turn;
    const position = running.nextPosition;
    const calls = Array.from({ length: count }, (_, n): ToolCall => ({
      ...{ callId: `${String(position)}.${String(n)}`, name: 'look', args: {} },
    }));
    let record = this.#record(position, { content: running.text, toolCalls: calls });
    this.#put(running, record);
    running.text = '';
    this.flight = { turnId, attempt, position: position + 1, text: '', leftover: '', since: 0 };
    const step = { attempt, position, length: record.content.length, count };
    yield calls.map((call) => ({ type: 'tool_called', turnId, call, ...step }));
    for (const { callId, name } of calls) {
      const result: ToolResult = { callId, name, result: 'seen', failed: false, multiStep: false };
      record = { ...record, toolResults: [...(record.toolResults ?? []), result] };
      this.#put(running, record);
      yield [{ type: 'tool_returned', turnId, result }];
    }
  }

  #put(running: RunningTurn, record: Message): void {
    running.put(record);
    this.records = [...running.messages];
  }

  #claim(attempt: number): ClaimedTurn {
    const claim = {
      owner: String(attempt),
      attempt,
      losses: attempt - 1,
      cancelRequested: false,
      partialText: '',
      partialSince: 0,
    };
    return { ...this.turn, status: 'running', ...claim };
  }

  #record(position: number, over: Partial<Message>): Message {
    return {
      ...{ id: String(position), turnId: this.turn.id, turnNo: 1, position, role: 'assistant', content: '' },
      ...{ toolCalls: null, toolResults: null, createdAt: 0, ...over },
    };
  }
}
