import { ClientError } from '../error.js';
import { textOf } from '../json.js';
import type { JsonObject } from '../types.js';
import type { CurrentCalls } from './calls.js';

/** The arguments of calls, which the events do not tell and the records do. */
export class ToolArguments {
  /** Null: it was looked for, and is in no record. */
  #known = new Map<string, JsonObject | null>();

  constructor(
    private readonly calls: CurrentCalls,
    private readonly signal: AbortSignal,
  ) {}

  /** The arguments of the call that an event speaks of; undefined where they cannot be known. */
  async of(event: JsonObject): Promise<JsonObject | undefined> {
    const callId = textOf(event, 'call_id');
    if (!this.#known.has(callId)) await this.#read(callId);
    const args = this.#known.get(callId) ?? undefined;
    return args;
  }

  async #read(callId: string): Promise<void> {
    this.#known.set(callId, null);
    try {
      // A call is stored before it is announced. What is not recent any more is forgotten.
      this.#known = new Map([[callId, null], ...(await this.calls.recentArguments(this.signal))]);
    } catch (error) {
      // The stream goes on without; if the service is away, the stream says so itself.
      if (!(error instanceof ClientError) || error.kind === 'closed') throw error;
    }
  }
}
