import { ClientError } from '../error.js';
import { textOf } from '../json.js';
import type { JsonObject } from '../types.js';
import type { CurrentCalls } from './calls.js';

/** Number of last messages to search for a call that was just announced. */
const RECENT = 20;

/** Looks up the arguments of tool calls, which the records contain but the events do not. */
export class ToolArguments {
  /** Null: looked up, but in no record. */
  #known = new Map<string, JsonObject | null>();

  constructor(
    private readonly calls: CurrentCalls,
    private readonly signal: AbortSignal,
  ) {}

  /** Returns the arguments of an event's call; undefined when unknown. */
  async of(event: JsonObject): Promise<JsonObject | undefined> {
    const callId = textOf(event, 'call_id');
    if (!this.#known.has(callId)) await this.#read(callId);
    const args = this.#known.get(callId) ?? undefined;
    return args;
  }

  async #read(callId: string): Promise<void> {
    this.#known.set(callId, null);
    try {
      // A call is stored before it is announced. Replacing the map drops calls that are no longer recent.
      const { messages } = await this.calls.historyPage({ limit: RECENT, signal: this.signal });
      const recent = messages.flatMap(({ toolCalls }) =>
        toolCalls.map((call) => [call.callId, call.args] as const),
      );
      this.#known = new Map<string, JsonObject | null>([[callId, null], ...recent]);
    } catch (error) {
      // Continues without arguments. If the service is unreachable, the stream reports it.
      if (!(error instanceof ClientError) || error.kind === 'closed') throw error;
    }
  }
}
