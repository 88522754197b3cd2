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
import { findExposure } from './key-material.js';
import type { JsonObject, JsonValue } from '../model/json.js';
import { INTERRUPTED_RESULT, resultText } from '../model/message.js';
import type { Bus } from '../ports/bus.js';
import type { SeedPhrases } from '../ports/tool.js';
import type { ToolDescription } from '../ports/tool.js';
import { RefusedError } from '../model/refusal.js';
import type { OpenCalls } from './open-calls.js';
import { sessionNotFound, type SessionCache } from '../sessions/session-cache.js';
import type { Sessions } from '../sessions/sessions.js';
import { toolContext } from './tool-context.js';

/** A call of a tool outside a turn. */
export interface InvocationRequest {
  readonly session: SessionRef;
  readonly name: string;
  readonly args: JsonObject;
  /** Absent: `default`. */
  readonly app: string | undefined;
  readonly key: string | undefined;
  readonly clientId: string | undefined;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}

/** What a tool call outside a turn came to: its result, or why there is none. */
export type Invocation = { readonly callId: string; readonly name: string } & (
  { readonly result: JsonValue } | { readonly error: string }
);

/** What a call of a tool goes through. */
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

/** Tools as a client calls them, without a rig. */
export class DirectCalls {
  readonly #stop = new AbortController();

  constructor(
    private readonly parts: DirectCallParts,
    private readonly sessions: Sessions,
    private readonly openCalls: OpenCalls,
    private readonly seedPhrases: SeedPhrases,
  ) {}

  /** The tools of an App. */
  async list(app: string | undefined, key: string | undefined): Promise<readonly ToolDescription[]> {
    return this.parts.toolRunner.describe(await this.parts.access.authorize(app ?? DEFAULT_APP, key));
  }

  /**
   * Runs one tool for a session, and tells its updates of it.
   * @throws RefusedError `not_found` for an unknown tool; `invalid` for arguments that do not fit its schema, or that
   * hold a key
   */
  async invoke(request: InvocationRequest): Promise<Invocation> {
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
    // One event after the other, in the order in which they happened.
    let told = Promise.resolve();
    let isOver = false;
    const tell = (event: EventBody): Promise<void> =>
      (told = told.then(() => this.openCalls.log(open, event)));
    const report = (message: string): void => {
      // A tool that was given up on may still talk.
      if (isOver) return;
      tell({ type: 'tool_update', ...announced, message }).catch((error: unknown) => {
        this.parts.log.warn({ err: error, tool: call.name }, 'progress of a tool was not stored');
        told = Promise.resolve();
      });
    };
    try {
      const context = await toolContext(this.parts, session, { app, client, signal });
      const { toolRunner, observer } = this.parts;
      const { result, failed } = await toolRunner.run(app, call, context, report, observer);
      isOver = true;
      await told.catch(() => undefined);
      await this.openCalls.end(call.callId, { type: 'tool_complete', ...announced, failed, result });
      const { callId, name } = call;
      return failed ? { callId, name, error: resultText(result) } : { callId, name, result };
    } catch (error) {
      isOver = true;
      // The client went away, the service stops, or the store failed: whoever watches must not wait for ever.
      const end: EventBody = {
        type: 'tool_complete',
        ...announced,
        failed: true,
        result: INTERRUPTED_RESULT,
      };
      await this.openCalls.end(call.callId, end).catch((reason: unknown) => {
        this.parts.log.warn({ err: reason, tool: call.name }, 'the end of a tool call was not stored');
      });
      throw error;
    } finally {
      release();
    }
  }

  close(): void {
    this.#stop.abort(
      new RefusedError('unavailable', 'The service is restarting; call the tool again in a moment', [], 2),
    );
  }

  #check(app: App, name: string, args: JsonObject): void {
    const tool = this.parts.toolRunner.find(app, name);
    if (tool === undefined)
      throw new RefusedError(
        'not_found',
        `There is no tool named ${JSON.stringify(name.slice(0, 100))} in this App`,
      );
    const exposure = findExposure(args, tool.parameters, this.seedPhrases);
    if (exposure !== undefined) {
      throw new RefusedError('invalid', `${exposure.path}: ${exposure.message}`, [exposure]);
    }
    const problems = this.parts.toolRunner.problems(tool, args);
    if (problems.length > 0) throw new RefusedError('invalid', 'The arguments do not fit the tool', problems);
  }
}
