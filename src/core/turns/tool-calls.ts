import type { WalletOwners } from '../access/wallet-owners.js';
import { toolContext } from '../tools/tool-context.js';
import type { Bus } from '../ports/bus.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Secrets } from '../access/secrets.js';
import type { ToolRunner } from '../tools/tool-runner.js';
import { TurnStopped } from '../model/abort.js';
import type { App } from '../model/app.js';
import type { EventBody } from '../model/event.js';
import { withProgress, type Message, type ToolCall, type ToolResult } from '../model/message.js';
import type { CoreSettings } from '../model/settings.js';
import type { RunningTurn } from './running-turn.js';
import { storePatiently } from './store-retry.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { TurnWriter } from './turn-writer.js';

/** The dependencies of `ToolCalls`. */
export interface ToolCallParts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly settings: CoreSettings;
  readonly toolRunner: ToolRunner;
  readonly walletOwners: WalletOwners;
}

/** Runs the tool calls of a turn. A call is stored before it runs, and each result as soon as it is available. */
export class ToolCalls {
  constructor(
    private readonly parts: ToolCallParts,
    private readonly writer: TurnWriter,
  ) {}

  /** Stores the step that ends with these calls, publishes the calls, and runs them. */
  async call(
    running: RunningTurn,
    thread: CachedSession,
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

  /** Runs calls concurrently. Each result is stored as soon as it is available. */
  async run(
    running: RunningTurn,
    thread: CachedSession,
    app: App,
    record: Message,
    calls: readonly ToolCall[],
  ): Promise<void> {
    let latest = record;
    const { sessionId, id: turnId } = running.turn;
    const run = async (call: ToolCall): Promise<void> => {
      const { signal, turn } = running;
      const read = (): ReturnType<typeof toolContext> => {
        signal.throwIfAborted();
        return toolContext(this.parts, thread.session, {
          ...{ app, client: turn.clientId, turn, signal },
          // The id that a model gives to a call is unique in its turn only.
          callId: `${record.id}:${String(record.toolCalls?.findIndex(({ callId }) => callId === call.callId))}`,
        });
      };
      // The call is stored: if the turn were left now, the outcome of the call would count as unknown.
      const context = await storePatiently(
        this.parts,
        turnId,
        read,
        'failed to read the secrets of a tool call, retrying',
      );
      let isMultiStep = call.multiStep === true;
      const report = (message: string): void => {
        const update: EventBody = { type: 'tool_update', callId: call.callId, toolName: call.name, message };
        // The first report also marks the stored call as a multi-step one.
        const isFirst = !isMultiStep;
        isMultiStep = true;
        if (isFirst) latest = withProgress(latest, call.callId);
        this.writer.save(running, thread, isFirst ? [latest] : [], [update]).catch((error: unknown) => {
          // What the tool reported just before the turn was stopped is discarded.
          if (error instanceof TurnStopped) return;
          this.parts.log.warn({ err: error, tool: call.name }, 'failed to store the progress of a tool call');
        });
      };
      const outcome = await this.parts.toolRunner.run(app, call, context, report, running.observed);
      const result: ToolResult = { ...outcome, at: this.parts.clock.now() };
      latest = { ...latest, toolResults: [...(latest.toolResults ?? []), result] };
      const { failed, multiStep } = result;
      const done: EventBody = {
        type: 'tool_complete',
        callId: call.callId,
        toolName: call.name,
        failed,
        result: result.result,
        ...(multiStep && { multiStep }),
      };
      await this.writer.save(running, thread, [latest], [done]);
      this.parts.bus.publish(sessionId, { type: 'tool_returned', turnId, result });
    };
    const outcomes = await Promise.allSettled(calls.map(run));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }
}
