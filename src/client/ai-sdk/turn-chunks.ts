import type { UIMessageChunk } from 'ai';
import { parseJson } from '../json.js';
import type { SessionEvent, ToolProgress } from '../types.js';

/** The mark of a text part that another attempt of the turn has replaced; see `isDiscarded`. */
const DISCARDED = { diptych: { discarded: true } } as const;

type TurnEnded = Extract<SessionEvent, { type: 'turn_ended' }>;

/**
 * Converts the events of one turn to chunks of a message. Each character of the turn's text is emitted once: what a
 * repeated start replays is compared with what was emitted. Where the text differs, its part is marked as discarded and
 * replaced.
 */
export class TurnChunks {
  #isStarted = false;
  #isOver = false;
  /** The text of the turn as emitted, without discarded parts. */
  #text = '';
  /** How much of it the current replay has repeated. */
  #replayed = 0;
  /** The positions in the text where parts begin. */
  #parts: number[] = [];
  #partCount = 0;
  #openPart: string | undefined;
  /** Calls by id; true once the call has ended. */
  readonly #calls = new Map<string, boolean>();

  *of(event: SessionEvent): Generator<UIMessageChunk> {
    if (this.#isOver) return;
    switch (event.type) {
      case 'turn_started':
        this.#replayed = 0;
        if (!this.#isStarted) yield { type: 'start', messageId: event.turnId };
        this.#isStarted = true;
        return;
      case 'text':
        yield* this.#addText(event.content);
        return;
      case 'tool':
        yield* this.#tool(event);
        return;
      case 'turn_ended':
        yield* this.#end(event);
        return;
      case 'title':
        yield { type: 'data-title', data: event.title, transient: true };
        return;
      case 'notice':
        yield { type: 'data-notice', data: event.message, transient: true };
        return;
      case 'connection':
      case 'state':
        return;
    }
    return event satisfies never;
  }

  *#addText(content: string): Generator<UIMessageChunk> {
    const expected = this.#text.slice(this.#replayed, this.#replayed + content.length);
    const same = commonLength(expected, content);
    this.#replayed += same;
    if (same < expected.length) yield* this.#rewind();
    yield* this.#more(content.slice(same));
  }

  /** Replaces the part that contains the end of the replay, and everything after it. */
  *#rewind(): Generator<UIMessageChunk> {
    const kept = this.#text.slice(0, this.#replayed);
    const start = this.#parts.findLast((position) => position <= this.#replayed) ?? 0;
    if (this.#openPart !== undefined) {
      yield { type: 'text-end', id: this.#openPart, providerMetadata: DISCARDED };
      this.#openPart = undefined;
    }
    this.#parts = this.#parts.filter((position) => position < start);
    this.#text = kept.slice(0, start);
    yield* this.#more(kept.slice(start));
  }

  *#more(content: string): Generator<UIMessageChunk> {
    if (content === '') return;
    if (this.#openPart === undefined) {
      this.#openPart = `text-${String(++this.#partCount)}`;
      this.#parts.push(this.#text.length);
      yield { type: 'text-start', id: this.#openPart };
    }
    this.#text += content;
    this.#replayed = this.#text.length;
    yield { type: 'text-delta', id: this.#openPart, delta: content };
  }

  *#closePart(): Generator<UIMessageChunk> {
    if (this.#openPart !== undefined) yield { type: 'text-end', id: this.#openPart };
    this.#openPart = undefined;
  }

  *#tool({ callId, name, status, args, message, result }: ToolProgress): Generator<UIMessageChunk> {
    const call = { toolCallId: callId, dynamic: true, providerExecuted: true } as const;
    if (this.#calls.get(callId) === true) return;
    if (!this.#calls.has(callId)) {
      yield* this.#closePart();
      this.#calls.set(callId, false);
      yield { type: 'tool-input-available', ...call, toolName: name, input: args ?? {} };
    }
    if (status === 'running') {
      if (message !== undefined)
        yield { type: 'tool-output-available', ...call, output: message, preliminary: true };
      return;
    }
    this.#calls.set(callId, true);
    if (status === 'failed')
      yield { type: 'tool-output-error', ...call, errorText: result ?? message ?? 'The tool call failed' };
    else yield { type: 'tool-output-available', ...call, output: outputOf(result ?? '') };
  }

  *#end({ status, error }: TurnEnded): Generator<UIMessageChunk> {
    // The other attempt has less text than the one before.
    if (this.#replayed < this.#text.length) yield* this.#rewind();
    yield* this.#closePart();
    for (const [toolCallId, hasEnded] of this.#calls) {
      const call = { toolCallId, dynamic: true, providerExecuted: true } as const;
      if (!hasEnded) yield { type: 'tool-output-error', ...call, errorText: NO_RESULT };
    }
    this.#isOver = true;
    if (status === 'complete') yield { type: 'finish', finishReason: 'stop' };
    else if (status === 'interrupted') yield { type: 'abort' };
    else yield { type: 'error', errorText: error ?? 'The turn failed' };
  }
}

/** The error text of a call without a result. */
export const NO_RESULT = 'The turn ended before the tool returned a result';

/** Parses a result that is JSON; returns other text unchanged. */
export function outputOf(result: string): unknown {
  return parseJson(result) ?? result;
}

/** True for a text part that another attempt of the turn has replaced: do not show it. */
export function isDiscarded(part: { readonly type: string; readonly providerMetadata?: unknown }): boolean {
  const { providerMetadata: all } = part;
  const own: unknown = typeof all === 'object' && all !== null && 'diptych' in all ? all.diptych : null;
  return typeof own === 'object' && own !== null && 'discarded' in own && own.discarded === true;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
