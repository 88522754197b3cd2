import type { Store } from '../ports/store.js';
import type { Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import { Checkpoints } from './checkpoints.js';
import { estimateTokens } from '../rigs/context-window.js';
import { isDeeperThan, isJsonObject } from '../model/json.js';
import type { ToolCall } from '../model/message.js';
import type { AnswerObserver, AnswerOutcome } from '../ports/observer.js';
import { RigError, type Rig, type RigPart, type RigRequest } from '../ports/rig.js';
import { requestTokens } from '../rigs/build-request.js';
import type { RunningTurn } from './running-turn.js';
import { cutText, wellFormed, wellFormedJson, WellFormedPieces } from '../model/text.js';
import { countable, NO_USAGE, type Usage } from '../model/turn.js';

/**
 * Limits of one model response: characters of text, and tool calls. A response beyond them does not end by itself and
 * would exhaust memory and the store.
 */
const MAX_TEXT = 1_048_576;
const MAX_CALLS = 128;
/** The maximum nesting of a call's arguments, in levels: stored values are traversed by recursion. */
const MAX_DEPTH = 200;
/**
 * Limits of a call's name and id in characters. Each event of the call contains them twice. Some proxies put a
 * signature of several thousand characters into the id.
 */
const MAX_NAME = 256;
const MAX_CALL_ID = 32_768;

/** The dependencies of `ModelResponse`. */
export interface ModelResponseParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

/** Handles the response to one model request, and publishes its text as it arrives. */
export class ModelResponse {
  /** The tool calls of the response, with ids that are unique in the turn. */
  readonly calls: ToolCall[] = [];
  /** What the provider reported, or else the estimate; undefined until then. */
  #usage: Usage | undefined;
  readonly #pieces = new WellFormedPieces();
  readonly #checkpoints: Checkpoints;
  readonly #observed: AnswerObserver;

  constructor(
    private readonly parts: ModelResponseParts,
    private readonly running: RunningTurn,
    private readonly rig: Rig,
    private readonly request: RigRequest,
  ) {
    this.#checkpoints = new Checkpoints(parts, running);
    this.#observed = running.observed.asked(rig, request.purpose);
  }

  /** Receives parts from the rig. Ignores them once the turn is stopped, in case the rig ignores the signal. */
  readonly take = (part: RigPart): void => {
    if (this.running.isStopped) return;
    if (part.type === 'text') this.#show(this.#pieces.add(part.text));
    else if (part.type === 'end') this.#report(countable(part.usage));
    else if (this.calls.length < MAX_CALLS) this.calls.push(this.#named(part.call));
    else this.running.stop('overlong');
  };

  /**
   * Ends the response: flushes its text and records its usage.
   * @param error the error of a failed request
   */
  end(outcome: AnswerOutcome, error?: unknown): void {
    if (outcome === 'complete') this.#show(this.#pieces.end());
    this.#checkpoints.stop();
    const shown = estimateTokens(this.running.text);
    this.running.shownTokens += shown;
    // Providers bill a response that was cut short, and one that was interrupted before it began; some report nothing.
    const isBilled = outcome === 'complete' || outcome === 'interrupted' || shown > 0;
    if (isBilled && this.#usage === undefined) this.#bill(this.#estimate(shown));
    const reason = error instanceof RigError ? error.reason : undefined;
    this.#observed.ended(outcome, this.#usage ?? NO_USAGE, this.calls.length, reason);
  }

  #report(usage: Usage): void {
    if (usage.inputTokens + usage.outputTokens > 0) this.#bill(usage);
  }

  #estimate(shown: number): Usage {
    const called = this.calls.length === 0 ? 0 : estimateTokens(JSON.stringify(this.calls));
    return { inputTokens: requestTokens(this.request, this.rig), outputTokens: shown + called };
  }

  #bill(usage: Usage): void {
    this.#usage = usage;
    this.running.addUsage(usage);
  }

  /** Replaces the id of a call that is missing, too long, or not unique in the turn. */
  #named(given: ToolCall): ToolCall {
    const call = storable(given);
    const isKnown =
      this.calls.some(({ callId }) => callId === call.callId) ||
      this.running.messages.some(({ toolCalls }) => toolCalls?.some(({ callId }) => callId === call.callId));
    const isUsable = call.callId !== '' && call.callId.length <= MAX_CALL_ID && !isKnown;
    return isUsable ? call : { ...call, callId: this.parts.clock.newId() };
  }

  #show(text: string): void {
    if (text === '') return;
    const { running, parts } = this;
    if (running.text === '') {
      this.#observed.spoke();
      // A repeated step keeps its time, because clients that poll see it as the same message.
      running.textSince ||= parts.clock.now();
      running.leftover = '';
    }
    const { id: turnId, attempt, sessionId } = running.turn;
    const [position, offset, before] = [running.nextPosition, running.text.length, running.textBefore];
    const content = cutText(text, MAX_TEXT - offset);
    running.text += content;
    parts.bus.publish(sessionId, { type: 'text', turnId, attempt, position, offset, before, content });
    this.#checkpoints.due();
    if (content.length < text.length) running.stop('overlong');
  }
}

/** Returns a call that can be stored and shown: well-formed text, a name and arguments within their limits. */
function storable({ callId, name, args, ...more }: ToolCall): ToolCall {
  const named = { callId: wellFormed(callId), name: wellFormed(cutText(name, MAX_NAME)), ...more };
  if (isDeeperThan(args, MAX_DEPTH)) {
    const problem = `The call was not run: its arguments are nested deeper than ${String(MAX_DEPTH)} levels.`;
    return { ...named, args: {}, problem };
  }
  const clean = wellFormedJson(args);
  return { ...named, args: isJsonObject(clean) ? clean : {} };
}
