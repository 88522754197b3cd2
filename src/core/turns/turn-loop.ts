import type { Store } from '../ports/store.js';
import type { Bus } from '../ports/bus.js';
import { pause, type Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { CoreSettings } from '../model/settings.js';
import type { ProviderKeys } from '../access/provider-keys.js';
import type { RigRegistry } from '../rigs/rig-registry.js';
import type { ToolRunner } from '../tools/tool-runner.js';
import { actingWallet } from '../tools/tool-context.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import { TurnStopped } from '../model/abort.js';
import type { App } from '../model/app.js';
import { isEvmAddress } from '../model/session.js';
import { respond } from './masked-response.js';
import { ModelResponse } from './model-response.js';
import {
  danglingCalls,
  textBytes,
  UNKNOWN_OUTCOME_RESULT,
  type Message,
  type ToolCall,
} from '../model/message.js';
import type { AnswerOutcome } from '../ports/observer.js';
import { RigError, type Rig, type RigRequest } from '../ports/rig.js';
import { buildRequest } from '../rigs/build-request.js';
import { fills } from '../rigs/context-window.js';
import type { RunningTurn } from './running-turn.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { SessionCache } from '../sessions/session-cache.js';
import { storePatiently } from './store-retry.js';
import type { ToolCalls } from './tool-calls.js';
import type { TurnWriter } from './turn-writer.js';
import type { WalletOutcomes } from './wallet-outcomes.js';
import type { TurnOutcome } from '../model/turn.js';

/** The outcome of a turn, before it is stored. */
export interface Ending {
  readonly outcome: TurnOutcome;
  /** The reason of a failure, for the user. */
  readonly error: string | null;
  /** The result for calls that have none. */
  readonly closeWords?: string;
}

/** A turn whose process died this often is not retried. */
const MAX_LOSSES = 3;
const MAX_TRIES = 4;
/** The maximum size of a turn's messages, in bytes. A turn that exceeds it makes no further model request. */
const MAX_TURN_BYTES = 4 * 1_048_576;
/** A provider that requests a longer delay is not retried. */
const MAX_BACKOFF_MS = 30_000;

/** The dependencies of `TurnLoop`. */
export interface TurnLoopParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: CoreSettings;
  readonly threads: SessionCache;
  readonly apps: ReadonlyMap<string, App>;
  readonly rigs: RigRegistry;
  readonly providerKeys: ProviderKeys;
  readonly toolRunner: ToolRunner;
  readonly walletOwners: WalletOwners;
}

/**
 * Runs a turn: requests a model response, runs the tools that it calls, and repeats until a response has no calls. Each
 * finished step is stored.
 */
export class TurnLoop {
  constructor(
    private readonly parts: TurnLoopParts,
    private readonly writer: TurnWriter,
    private readonly calls: ToolCalls,
    private readonly walletOutcomes: WalletOutcomes,
  ) {}

  /**
   * Runs or resumes a turn to its ending.
   * @throws TurnStopped | RigError | StoreUnavailableError, or any error of a dependency; synchronously or as a
   * rejected promise
   */
  work(running: RunningTurn, thread: CachedSession): Promise<Ending> | Ending {
    const { turn } = running;
    if (turn.cancelRequested) throw new TurnStopped('interrupted');
    if (turn.losses >= MAX_LOSSES) {
      const error =
        'The service stopped three times while working on this answer, so it was given up. Send the message again.';
      return { outcome: 'interrupted', error, closeWords: UNKNOWN_OUTCOME_RESULT };
    }
    const app = this.parts.apps.get(turn.app);
    if (app === undefined) return { outcome: 'failed', error: `The App ${turn.app} is no longer configured` };
    const last = running.messages.at(-1);
    return last !== undefined && danglingCalls(last).length > 0
      ? this.#resume(running, thread, app, last)
      : this.#converse(running, thread, app);
  }

  /**
   * Resumes a turn whose process died during tool calls. Repeats the calls if that is safe, else ends the turn as
   * interrupted.
   */
  async #resume(running: RunningTurn, thread: CachedSession, app: App, last: Message): Promise<Ending> {
    const dangling = danglingCalls(last);
    // A call with a problem was never run.
    const risky = dangling.find(
      ({ name, problem }) => problem === undefined && !this.parts.toolRunner.isRepeatable(name),
    );
    if (risky !== undefined) {
      const error = `The service stopped while the tool ${risky.name} was running. Whether it took effect is unknown; it was not run again.`;
      return { outcome: 'interrupted', error, closeWords: UNKNOWN_OUTCOME_RESULT };
    }
    await this.calls.run(running, thread, app, last, dangling);
    return this.#converse(running, thread, app);
  }

  async #converse(running: RunningTurn, thread: CachedSession, app: App): Promise<Ending> {
    if (this.walletOutcomes.areDue(running)) await this.walletOutcomes.settle(running, thread);
    const chosen = this.parts.rigs.choose(app, thread.session.rig);
    if (chosen === undefined)
      return { outcome: 'failed', error: `The App ${app.name} has no model to answer with` };
    const { rig } = chosen;
    running.rigId = rig.id;
    const apiKey = await this.#keyFor(running, rig);
    const taken = running.messages.filter(({ role }) => role === 'assistant').length;
    if (chosen.replaced && taken === 0) {
      const message = `The selected model is not available in the App ${app.name}; ${rig.id} answers instead.`;
      await this.writer.save(running, thread, [], [{ type: 'system_notice', message }]);
    }
    for (let step = taken; step < this.parts.settings.maxSteps; step++) {
      const calls = await this.#ask(
        running,
        rig,
        withKey(await this.#request(running, thread, app, rig), apiKey),
      );
      if (calls.length === 0) {
        const isEmpty =
          running.text === '' &&
          !running.messages.some(({ role, content }) => role === 'assistant' && content !== '');
        return isEmpty
          ? { outcome: 'failed', error: 'The model gave an empty answer. Send the message again.' }
          : { outcome: 'complete', error: null };
      }
      await this.calls.call(running, thread, app, calls);
      if (isLong(running)) {
        return {
          outcome: 'failed',
          error: 'The answer grew too long and was stopped. Ask for less at once.',
        };
      }
    }
    const error = `The answer was stopped after ${String(this.parts.settings.maxSteps)} steps. Ask again, more narrowly.`;
    return { outcome: 'failed', error };
  }

  /** Returns the key that the client of a turn has stored for the provider of a rig. */
  async #keyFor(running: RunningTurn, { provider }: Rig): Promise<string | undefined> {
    const { clientId, id } = running.turn;
    if (clientId === null) return undefined;
    const reading = storePatiently(
      this.parts,
      id,
      () => this.parts.providerKeys.keyFor(clientId, provider),
      'failed to read the provider key of a turn, retrying',
    );
    return running.unlessStopped(reading);
  }

  async #request(running: RunningTurn, thread: CachedSession, app: App, rig: Rig): Promise<RigRequest> {
    const { threads } = this.parts;
    while (!fills([thread.settled, running.messages], rig.contextTokens)) {
      const adding = storePatiently(
        this.parts,
        running.turn.id,
        () => threads.addEarlier(thread),
        'failed to read the thread of a turn, retrying',
      );
      if (!(await running.unlessStopped(adding))) break;
    }
    const hasWallet = isEvmAddress(actingWallet(this.parts.walletOwners, thread.session));
    const tools = this.parts.toolRunner.describe(app, { hasWallet });
    return buildRequest({ app, rig, tools }, thread.session, [thread.settled, running.messages]);
  }

  /**
   * Requests a model response. Retries with exponential backoff as long as no text was published. Returns the tool
   * calls.
   */
  async #ask(running: RunningTurn, rig: Rig, request: RigRequest): Promise<readonly ToolCall[]> {
    const { signal } = running;
    for (let tries = 1; ; tries++) {
      // Stopped before the request: send none, so that nothing is billed.
      signal.throwIfAborted();
      const listening = new ModelResponse(this.parts, running, rig, request);
      try {
        await running.unlessStopped(respond(rig, request, signal, listening.take));
      } catch (error) {
        listening.end(outcomeOf(error, signal), error);
        await this.#beforeNext(running, rig, { error, tries });
        continue;
      }
      listening.end('complete');
      return listening.calls;
    }
  }

  /**
   * Waits before the next try.
   * @throws the given error when it must not be retried
   */
  async #beforeNext(
    running: RunningTurn,
    rig: Rig,
    { error, tries }: { readonly error: unknown; readonly tries: number },
  ): Promise<void> {
    running.signal.throwIfAborted();
    const canRetry =
      error instanceof RigError && error.info.retryable && running.text === '' && tries < MAX_TRIES;
    if (!canRetry) throw error;
    const wait = error.info.retryAfterMs ?? 250 * 2 ** tries;
    if (wait > MAX_BACKOFF_MS) throw error;
    this.parts.log.warn({ err: error, rig: rig.id, tries, wait_ms: wait }, 'rig failed, retrying');
    await pause(this.parts.clock, wait, running.signal);
  }
}

function withKey(request: RigRequest, apiKey: string | undefined): RigRequest {
  return apiKey === undefined ? request : { ...request, apiKey };
}

function isLong({ messages }: RunningTurn): boolean {
  return messages.reduce((sum, message) => sum + textBytes(message), 0) > MAX_TURN_BYTES;
}

function outcomeOf(error: unknown, signal: AbortSignal): AnswerOutcome {
  if (signal.aborted) return 'interrupted';
  return error instanceof RigError && error.info.retryable ? 'unavailable' : 'failed';
}
