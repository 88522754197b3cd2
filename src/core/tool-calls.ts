import type { App } from './app.js';
import type { EventBody } from './event.js';
import { withProgress, type Message, type ToolCall, type ToolResult } from './message.js';
import type { Parts } from './parts.js';
import type { ToolContext } from './ports.js';
import type { RunningTurn } from './running-turn.js';
import type { Session } from './session.js';
import type { ActiveThread } from './thread.js';
import type { TurnWriter } from './turn-writer.js';
import { flatUserState } from './user-state.js';
import { addressOf } from './wallet-proofs.js';

/** The tool calls of a turn. A call is stored before it runs, and its result as soon as there is one. */
export class ToolCalls {
  constructor(
    private readonly parts: Parts,
    private readonly writer: TurnWriter,
  ) {}

  /** Stores the step that ends with these calls, tells of them, and runs them. */
  async call(
    running: RunningTurn,
    thread: ActiveThread,
    app: App,
    calls: readonly ToolCall[],
  ): Promise<void> {
    const record: Message = {
      id: this.parts.clock.newId(),
      turnId: running.turn.id,
      turnNo: running.turn.no,
      position: running.nextPosition,
      role: 'assistant',
      content: running.text,
      toolCalls: calls,
      toolResults: null,
      createdAt: (running.text === '' ? 0 : running.textSince) || this.parts.clock.now(),
    };
    const events = calls.map(({ callId, name }): EventBody => ({
      type: 'tool_update',
      callId,
      toolName: name,
    }));
    await this.writer.save(running, thread, [record], events);
    const { sessionId, id: turnId, attempt } = running.turn;
    const step = { attempt, position: record.position, length: record.content.length, count: calls.length };
    for (const call of calls)
      this.parts.bus.publish(sessionId, { type: 'tool_called', turnId, call, ...step });
    await this.run(running, thread, app, record, calls);
  }

  /** Runs calls side by side; each result is stored as it comes. */
  async run(
    running: RunningTurn,
    thread: ActiveThread,
    app: App,
    record: Message,
    calls: readonly ToolCall[],
  ): Promise<void> {
    let latest = record;
    const { sessionId, id: turnId } = running.turn;
    const run = async (call: ToolCall): Promise<void> => {
      const { signal, turn } = running;
      const context = await toolContext(this.parts, thread.session, { app, client: turn.clientId, signal });
      let isMultiStep = call.multiStep === true;
      const report = (message: string): void => {
        const update: EventBody = { type: 'tool_update', callId: call.callId, toolName: call.name, message };
        // Stored once, with the first report.
        const isFirst = !isMultiStep;
        isMultiStep = true;
        if (isFirst) latest = withProgress(latest, call.callId);
        this.writer.save(running, thread, isFirst ? [latest] : [], [update]).catch((error: unknown) => {
          this.parts.log.warn({ err: error, tool: call.name }, 'progress of a tool was not stored');
        });
      };
      const outcome = await this.parts.toolbox.run(app, call, context, report, running.observed);
      const result: ToolResult = { ...outcome, at: this.parts.clock.now() };
      latest = { ...latest, toolResults: [...(latest.toolResults ?? []), result] };
      const { failed } = result;
      const done: EventBody = {
        type: 'tool_complete',
        callId: call.callId,
        toolName: call.name,
        failed,
        result: result.result,
      };
      await this.writer.save(running, thread, [latest], [done]);
      this.parts.bus.publish(sessionId, { type: 'tool_returned', turnId, result });
    };
    const outcomes = await Promise.allSettled(calls.map(run));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/**
 * What a call may know and use: the bound wallet, else the connected one, and the secrets that its client has stored for the App.
 * Where wallets have to sign in, one that a client only says to be connected is not given for the session's.
 */
export async function toolContext(
  { secrets, walletProofs }: Pick<Parts, 'secrets' | 'walletProofs'>,
  { id, wallet, userState }: Session,
  { app, client, signal }: { app: App; client: string | null; signal: AbortSignal },
): Promise<Omit<ToolContext, 'progress'>> {
  const connected = walletProofs.areRequired ? null : flatUserState(userState).address;
  return {
    sessionId: id,
    wallet: wallet === null ? connected : addressOf(wallet),
    userState,
    secrets: await secrets.open(client, app.name),
    signal,
  };
}
