import type { Store } from '../ports/store.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Observer } from '../ports/observer.js';
import type { Access } from '../access/app-access.js';
import type { Secrets } from '../access/secrets.js';
import type { ToolRunner } from './tool-runner.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import { linkSignals } from '../model/abort.js';
import { DEFAULT_APP, type App } from '../model/app.js';
import type { SessionRef } from '../model/session.js';
import type { EventBody } from '../model/event.js';
import { findExposure, type KeyDetection } from './key-material.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import { INTERRUPTED_RESULT, resultText } from '../model/message.js';
import type { Bus } from '../ports/bus.js';
import type { ToolDescription } from '../ports/tool.js';
import { RefusedError } from '../model/refusal.js';
import type { OpenCalls } from './open-calls.js';
import { sessionNotFound, type SessionCache } from '../sessions/session-cache.js';
import type { Sessions } from '../sessions/sessions.js';
import { toolContext } from './tool-context.js';

/** A request to call a tool outside a turn. */
export interface InvocationRequest {
  readonly session: SessionRef;
  readonly name: string;
  readonly args: JsonObject;
  /** Absent: `default`. */
  readonly app: string | undefined;
  readonly key: string | undefined;
  readonly clientId: string | undefined;
  /** Aborts when the caller no longer waits for the result. */
  readonly signal: AbortSignal;
}

/** The result of a tool call outside a turn, or the error message of a failed one. */
export type Invocation = { readonly callId: string; readonly name: string } & (
  { readonly result: JsonValue } | { readonly error: string }
);

/** The dependencies of `DirectCalls`. */
export interface DirectCallParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly access: Access;
  readonly apps: ReadonlyMap<string, App>;
  readonly secrets: Secrets;
  readonly toolRunner: ToolRunner;
  readonly walletOwners: WalletOwners;
  readonly threads: SessionCache;
}

/** Lists tools for clients, and runs tool calls outside turns. */
export class DirectCalls {
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(
    private readonly parts: DirectCallParts,
    private readonly sessions: Sessions,
    private readonly openCalls: OpenCalls,
    private readonly keyDetection: KeyDetection,
  ) {}

  /** Lists the tools of an App, including those that need a wallet. */
  async list(app: string | undefined, key: string | undefined): Promise<readonly ToolDescription[]> {
    const authorized = await this.parts.access.authorize(app ?? DEFAULT_APP, key);
    return this.parts.toolRunner.describe(authorized, { hasWallet: true });
  }

  /**
   * Runs one tool for a session and publishes the call's progress to the session's streams.
   * @throws RefusedError `not_found` for an unknown tool; `invalid` for arguments that do not match its schema or
   * contain a private key; `unavailable` once the service stops
   */
  invoke(request: InvocationRequest): Promise<Invocation> {
    const running = this.#invoke(request).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  async #invoke(request: InvocationRequest): Promise<Invocation> {
    this.#stop.signal.throwIfAborted();
    const app = await this.parts.access.authorize(request.app ?? DEFAULT_APP, request.key);
    this.#check(app, request.name, request.args);
    const thread = await this.parts.threads.openForWrite(request.session);
    const client = this.parts.secrets.clientFor(request.clientId, thread.session);
    await this.parts.secrets.requireSlots(app, client);
    const call = { callId: this.parts.clock.newId(), name: request.name, args: request.args };
    const announced = { callId: call.callId, toolName: call.name };
    const { session } = await this.sessions.write(request.session, () => ({ set: {}, isActivity: false }));
    const open = { callId: call.callId, sessionId: session.id, toolName: call.name };
    if (!(await this.openCalls.begin(open, { type: 'tool_update', ...announced }))) throw sessionNotFound();
    const { signal, release } = linkSignals(this.#stop.signal, request.signal);
    // Stores events sequentially, in the order in which they happened.
    let lastLogged = Promise.resolve();
    let isOver = false;
    const logEvent = (event: EventBody): Promise<void> =>
      (lastLogged = lastLogged.then(() => this.openCalls.log(open, event)));
    let isMultiStep = false;
    const report = (message: string): void => {
      // A tool may still report progress after its call was aborted.
      if (isOver) return;
      isMultiStep = true;
      logEvent({ type: 'tool_update', ...announced, message }).catch((error: unknown) => {
        this.parts.log.warn({ err: error, tool: call.name }, 'failed to store the progress of a tool call');
        lastLogged = Promise.resolve();
      });
    };
    const completed = (outcome: { failed: boolean; result: JsonValue }): EventBody => ({
      type: 'tool_complete',
      ...announced,
      ...outcome,
      ...(isMultiStep && { multiStep: true }),
    });
    const end = (outcome: { failed: boolean; result: JsonValue }): Promise<void> =>
      this.openCalls.end(call.callId, completed(outcome));
    const warn = (reason: unknown): void => {
      this.parts.log.warn({ err: reason, tool: call.name }, 'failed to store the end of a tool call');
    };
    let outcome: { failed: boolean; result: JsonValue };
    try {
      const context = await toolContext(this.parts, session, {
        ...{ app, client, turn: null, signal, callId: call.callId },
      });
      const { toolRunner, observer } = this.parts;
      const { result, failed } = await toolRunner.run(app, call, context, report, observer);
      outcome = { failed, result };
      isOver = true;
    } catch (error) {
      isOver = true;
      // The client disconnected, the service is stopping, or the store failed: streams must still receive the end of
      // the call.
      await end({ failed: true, result: INTERRUPTED_RESULT }).catch(warn);
      throw error;
    } finally {
      release();
    }
    await lastLogged.catch(() => undefined);
    try {
      await end(outcome);
    } catch (error) {
      warn(error);
      // The first attempt may be stored although it failed: then this one changes nothing.
      await end(outcome).catch(() => {
        throw error;
      });
    }
    const { callId, name } = call;
    const { failed, result } = outcome;
    return failed ? { callId, name, error: resultText(result) } : { callId, name, result };
  }

  /** Aborts the running calls, and refuses others. Resolves when the ends of all calls are stored and published. */
  async close(): Promise<void> {
    this.#stop.abort(
      new RefusedError('unavailable', 'The service is restarting; call the tool again in a moment', [], 2),
    );
    await Promise.allSettled(this.#running);
  }

  #check(app: App, name: string, args: JsonObject): void {
    const tool = this.parts.toolRunner.find(app, name);
    if (tool === undefined)
      throw new RefusedError(
        'not_found',
        `There is no tool named ${JSON.stringify(name.slice(0, 100))} in this App`,
      );
    const exposure = findExposure(args, tool.parameters, this.keyDetection);
    if (exposure !== undefined) {
      throw new RefusedError('invalid', `${exposure.path}: ${exposure.message}`, [exposure]);
    }
    const problems = this.parts.toolRunner.problems(tool, args);
    if (problems.length > 0) throw new RefusedError('invalid', 'The arguments do not fit the tool', problems);
  }
}
