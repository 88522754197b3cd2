import { pause, TurnStopped, untilAborted } from './abort.js';
import type { App } from './app.js';
import type { HeadStart } from './head-start.js';
import { estimateTokens } from './history.js';
import { danglingCalls, UNKNOWN_OUTCOME_RESULT, type ToolCall } from './message.js';
import type { AnswerOutcome } from './observer.js';
import type { Parts } from './parts.js';
import { RigError, type Rig, type RigPart, type RigRequest } from './ports.js';
import { questionOf, requestTokens } from './question.js';
import type { RunningTurn } from './running-turn.js';
import type { ActiveThread } from './thread.js';
import type { ToolCalls } from './tool-calls.js';
import type { TurnWriter } from './turn-writer.js';
import { NO_USAGE, type TurnOutcome, type Usage } from './turn.js';

/** How a turn came out, before it is stored. */
export interface Ending {
  readonly outcome: TurnOutcome;
  /** Words for the user on what went wrong. */
  readonly error: string | null;
  /** What a call without a result gets. */
  readonly closeWords?: string;
}

/** A request to a rig. */
interface Question {
  readonly rig: Rig;
  readonly request: RigRequest;
  /** Set when it was asked already. */
  readonly early: HeadStart | undefined;
}

/** A turn that lost its process this often is not tried again. */
const MAX_LOSSES = 3;
const MAX_TRIES = 4;
/** An upstream that asks for more patience than this is given up on. */
const MAX_BACKOFF_MS = 30_000;

/** The work of a turn: ask the rig, run the tools it calls, ask again, until it has answered. Each finished step is stored. */
export class TurnSteps {
  constructor(
    private readonly parts: Parts,
    private readonly writer: TurnWriter,
    private readonly calls: ToolCalls,
  ) {}

  /** @throws TurnStopped | RigError | StoreUnavailableError, or whatever a part threw */
  async work(running: RunningTurn, thread: ActiveThread): Promise<Ending> {
    const { turn } = running;
    if (turn.cancelRequested) throw new TurnStopped('interrupted');
    if (turn.losses >= MAX_LOSSES) {
      const error =
        'The service stopped three times while working on this answer, so it was given up. Send the message again.';
      return { outcome: 'interrupted', error, closeWords: UNKNOWN_OUTCOME_RESULT };
    }
    const app = this.parts.apps.get(turn.app);
    if (app === undefined) return { outcome: 'failed', error: `The App ${turn.app} is no longer configured` };
    const unknown = await this.#resume(running, thread, app);
    return unknown ?? this.#converse(running, thread, app);
  }

  /** Calls that had no result when their process died: made again where that is harmless, else told. */
  async #resume(running: RunningTurn, thread: ActiveThread, app: App): Promise<Ending | undefined> {
    const last = running.messages.at(-1);
    const dangling = last === undefined ? [] : danglingCalls(last);
    if (last === undefined || dangling.length === 0) return undefined;
    const risky = dangling.find(({ name }) => !this.parts.toolbox.isRepeatable(name));
    if (risky !== undefined) {
      const error = `The service stopped while the tool ${risky.name} was running. Whether it took effect is unknown; it was not run again.`;
      return { outcome: 'interrupted', error, closeWords: UNKNOWN_OUTCOME_RESULT };
    }
    await this.calls.run(running, thread, app, last, dangling);
    return undefined;
  }

  async #converse(running: RunningTurn, thread: ActiveThread, app: App): Promise<Ending> {
    const early = running.takeHeadStart();
    const chosen = this.parts.rigs.choose(app, thread.session.rig);
    const rig = early?.rig ?? chosen?.rig;
    if (rig === undefined)
      return { outcome: 'failed', error: `The App ${app.name} has no model to answer with` };
    running.rigId = rig.id;
    if (early === undefined && chosen?.replaced === true && running.messages.length === 1) {
      const message = `The selected model is not available in the App ${app.name}; ${rig.id} answers instead.`;
      await this.writer.save(running, thread, [], [{ type: 'system_notice', message }]);
    }
    const taken = running.messages.filter(({ role }) => role === 'assistant').length;
    for (let step = taken; step < this.parts.settings.maxSteps; step++) {
      const isAsked = early !== undefined && step === taken;
      const request = isAsked ? early.request : this.#request(running, thread, app, rig);
      const calls = await this.#ask(running, { rig, request, early: isAsked ? early : undefined });
      if (calls.length === 0) {
        const isEmpty =
          running.text === '' &&
          !running.messages.some(({ role, content }) => role === 'assistant' && content !== '');
        return isEmpty
          ? { outcome: 'failed', error: 'The model gave an empty answer. Send the message again.' }
          : { outcome: 'complete', error: null };
      }
      await this.calls.call(running, thread, app, calls);
    }
    const error = `The answer was stopped after ${String(this.parts.settings.maxSteps)} steps. Ask again, more narrowly.`;
    return { outcome: 'failed', error };
  }

  #request(running: RunningTurn, thread: ActiveThread, app: App, rig: Rig): RigRequest {
    const { toolbox } = this.parts;
    const history = [...thread.settled, ...running.messages];
    return questionOf({ app, rig, toolbox }, thread.session, history);
  }

  /** Asks the rig, again with growing patience as long as nothing of its answer was shown. Returns the calls that it makes. */
  async #ask(running: RunningTurn, question: Question): Promise<readonly ToolCall[]> {
    const { rig, request } = question;
    let { early } = question;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#listen(running, { rig, request, early });
      } catch (error) {
        running.signal.throwIfAborted();
        const canRetry =
          error instanceof RigError && error.info.retryable && running.text === '' && tries < MAX_TRIES;
        if (!canRetry) throw error;
        const wait = error.info.retryAfterMs ?? 250 * 2 ** tries;
        if (wait > MAX_BACKOFF_MS) throw error;
        this.parts.log.warn({ err: error, rig: rig.id, tries, wait_ms: wait }, 'rig failed, trying again');
        await pause(wait, running.signal);
        early = undefined;
      }
    }
  }

  async #listen(running: RunningTurn, { rig, request, early }: Question): Promise<readonly ToolCall[]> {
    const { signal } = running;
    // Stopped before it began: then nobody is asked, and nothing is billed.
    signal.throwIfAborted();
    const calls: ToolCall[] = [];
    const known = running.messages.flatMap(({ toolCalls }) => toolCalls?.map(({ callId }) => callId) ?? []);
    const checkpoints = this.writer.checkpoints(running);
    const observed = running.observed.asked(rig, request.purpose);
    let usage = NO_USAGE;
    const bill = (more: Usage): void => {
      usage = more;
      running.addUsage(more);
    };
    const take = (part: RigPart): void => {
      // A rig that does not heed the signal is not heeded either: what it says late is never shown.
      if (signal.aborted) return;
      if (part.type === 'text') {
        if (running.text === '' && part.text !== '') observed.spoke();
        this.#show(running, part.text, checkpoints.due);
      } else if (part.type === 'end') bill(part.usage);
      else {
        const callId =
          part.call.callId === '' || known.includes(part.call.callId)
            ? this.parts.clock.newId()
            : part.call.callId;
        known.push(callId);
        calls.push({ ...part.call, callId });
      }
    };
    let outcome: AnswerOutcome = 'failed';
    try {
      await untilAborted(early?.listen(take) ?? rig.respond(request, signal, take), signal);
      outcome = 'complete';
    } catch (error) {
      if (signal.aborted) outcome = 'interrupted';
      else if (error instanceof RigError && error.info.retryable) outcome = 'unavailable';
      throw error;
    } finally {
      checkpoints.stop();
      const shown = estimateTokens(running.text);
      running.shownTokens += shown;
      // Cut short after it began: the provider bills it and does not say how much.
      if (outcome !== 'complete' && shown > 0)
        bill({ inputTokens: requestTokens(request), outputTokens: shown });
      observed.ended(outcome, usage, calls.length);
    }
    return calls;
  }

  #show(running: RunningTurn, text: string, due: () => void): void {
    if (text === '') return;
    if (running.text === '') {
      running.textSince = this.parts.clock.now();
      running.leftover = '';
    }
    const { id: turnId, attempt, sessionId } = running.turn;
    const [position, offset] = [running.nextPosition, running.text.length];
    running.text += text;
    this.parts.bus.publish(sessionId, { type: 'text', turnId, attempt, position, offset, content: text });
    due();
  }
}
