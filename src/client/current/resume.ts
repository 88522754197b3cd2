import { linked } from '../pacing.js';
import type { HistoryCall, SessionEvent, HistoryMessage, ToolProgress } from '../types.js';
import type { Wire } from '../wire.js';
import type { CurrentCalls } from './calls.js';
import { CurrentFollower } from './follow.js';
import { Question } from './question.js';
import type { RunningTurn } from './running-turn.js';

/**
 * Yields the events of a turn that is running, or was running a moment ago, from its beginning to its end: each
 * character of its text and each tool call once, in the order of the reply.
 */
export async function* resumeCurrent(
  wire: Wire,
  calls: CurrentCalls,
  turn: RunningTurn,
  outer: AbortSignal,
): AsyncGenerator<SessionEvent, void, undefined> {
  const life = linked(wire.closed, outer);
  const { signal } = life;
  const question = new Question(() => turn.ordinal);
  question.sent(turn.turnId, true);
  let woven: WovenTurn | undefined;
  const onOpen = async (): Promise<void> => {
    const page = await calls.recent(signal);
    question.recorded(page);
    // The stream is open, so a call is either stored by now or will be announced.
    woven ??= new WovenTurn(stepsOf(page.messages, turn));
  };
  try {
    for await (const event of new CurrentFollower(calls, signal, { isPatient: () => true, onOpen }).run()) {
      for (const shown of question.receive(event)) {
        if (woven === undefined) yield shown;
        else yield* woven.add(shown);
        if (shown.type === 'turn_ended') return;
      }
    }
    signal.throwIfAborted();
  } finally {
    life.abort();
  }
}

/** A stored step of a reply. */
interface Step {
  /** The length of the turn's text up to the end of the step, in UTF-16 code units. */
  readonly end: number;
  readonly calls: readonly HistoryCall[];
}

/** Returns the stored steps of a turn that made tool calls. */
function stepsOf(messages: readonly HistoryMessage[], { turnId }: RunningTurn): readonly Step[] {
  let end = 0;
  return messages
    .filter((message) => message.turnId === turnId && message.role === 'assistant')
    .map(({ content, toolCalls }) => ({ end: (end += content.length), calls: toolCalls }))
    .filter(({ calls }) => calls.length > 0);
}

/** Adds the stored tool calls of a turn to its events, each after the text that precedes it. */
class WovenTurn {
  #steps: readonly Step[];
  #position = 0;
  /** The outcomes of stored calls that ended since. */
  readonly #outcomes = new Map<string, ToolProgress>();
  readonly #emitted = new Set<string>();

  constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  *add(event: SessionEvent): Generator<SessionEvent> {
    switch (event.type) {
      case 'turn_started':
        this.#position = 0;
        yield event;
        yield* this.#callsUpTo(0);
        return;
      case 'text':
        yield* this.#split(event);
        return;
      case 'tool':
        yield* this.#tool(event);
        return;
      case 'turn_ended':
        yield* this.#callsUpTo(Infinity);
        yield event;
        return;
      default:
        yield event;
    }
  }

  *#split(event: Extract<SessionEvent, { type: 'text' }>): Generator<SessionEvent> {
    let { content } = event;
    for (const { end } of this.#steps) {
      if (end <= this.#position || end > this.#position + content.length) continue;
      const length = end - this.#position;
      yield { ...event, content: content.slice(0, length) };
      content = content.slice(length);
      this.#position = end;
      yield* this.#callsUpTo(end);
    }
    if (content !== '') yield { ...event, content };
    this.#position += content.length;
  }

  *#tool(event: ToolProgress): Generator<SessionEvent> {
    const isWaiting = this.#steps.some(({ calls }) => calls.some(({ callId }) => callId === event.callId));
    if (isWaiting && event.status !== 'running') this.#outcomes.set(event.callId, event);
    if (!isWaiting) yield* this.#once(event);
  }

  *#callsUpTo(position: number): Generator<SessionEvent> {
    const due = this.#steps.filter(({ end }) => end <= position);
    this.#steps = this.#steps.filter(({ end }) => end > position);
    for (const { callId, name, args, result, failed } of due.flatMap(({ calls }) => calls)) {
      const call = { type: 'tool', callId, name, args } as const;
      yield* this.#once({ ...call, status: 'running' });
      const outcome = this.#outcomes.get(callId);
      if (result !== null) yield* this.#once({ ...call, status: failed ? 'failed' : 'complete', result });
      else if (outcome !== undefined) yield* this.#once(outcome);
    }
  }

  /** Drops the start and the end of a call that were emitted before. */
  *#once(event: ToolProgress): Generator<SessionEvent> {
    const once = `${event.status} ${event.callId}`;
    if (event.message === undefined && this.#emitted.has(once)) return;
    this.#emitted.add(once);
    yield event;
  }
}
