import { linkSignals } from './abort.js';
import { DEFAULT_APP, type App } from './app.js';
import type { SessionRef } from './core.js';
import type { EventBody } from './event.js';
import { findExposure } from './exposures.js';
import type { JsonObject, JsonValue } from './json.js';
import { INTERRUPTED_RESULT, resultText } from './message.js';
import { announce, type Parts } from './parts.js';
import type { OpenCalls } from './open-calls.js';
import type { SeedPhrases, ToolDescription } from './ports.js';
import { RefusedError } from './refusal.js';
import type { Sessions } from './sessions.js';
import { sessionNotFound } from './threads.js';
import { toolContext } from './tool-calls.js';

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

/** Tools as a client calls them (§4.12), without a rig. */
export class ToolInvocations {
  readonly #stop = new AbortController();

  constructor(
    private readonly parts: Parts,
    private readonly sessions: Sessions,
    private readonly openCalls: OpenCalls,
    private readonly seedPhrases: SeedPhrases,
  ) {}

  /** The tools of an App. */
  async list(app: string | undefined, key: string | undefined): Promise<readonly ToolDescription[]> {
    return this.parts.toolbox.describe(await this.parts.access.authorize(app ?? DEFAULT_APP, key));
  }

  /**
   * Runs one tool for a session, and tells its updates of it.
   * @throws RefusedError `not_found` for an unknown tool; `invalid` for arguments that do not fit its schema, or that hold a key
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
    const tell = (event: EventBody): Promise<void> => (told = told.then(() => this.#log(session.id, event)));
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
      const { toolbox, observer } = this.parts;
      const { result, failed } = await toolbox.run(app, call, context, report, observer);
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
    const tool = this.parts.toolbox.find(app, name);
    if (tool === undefined)
      throw new RefusedError(
        'not_found',
        `There is no tool named ${JSON.stringify(name.slice(0, 100))} in this App`,
      );
    const exposure = findExposure(args, tool.parameters, this.seedPhrases);
    if (exposure !== undefined) {
      throw new RefusedError('invalid', `${exposure.path}: ${exposure.message}`, [exposure]);
    }
    const problems = this.parts.toolbox.problems(tool, args);
    if (problems.length > 0) throw new RefusedError('invalid', 'The arguments do not fit the tool', problems);
  }

  async #log(sessionId: string, event: EventBody): Promise<void> {
    const commit = await this.parts.store.appendEvents(sessionId, [event], this.parts.clock.now());
    if (commit === undefined) return;
    this.parts.threads.peek(sessionId)?.apply(commit, () => undefined);
    announce(this.parts.bus, sessionId, commit);
  }
}
