import { ClientError } from '../error.js';
import { textOf } from '../json.js';
import type { JsonObject, ToolProgress } from '../types.js';
import type { CurrentCalls, Snapshot } from './calls.js';

/** Number of last messages to search for a call that was just announced. */
const RECENT = 20;

/** What the record of a tool call contains, but its events do not. */
type Recorded = Pick<ToolProgress, 'turnId' | 'args'>;

/** Looks up the turns and arguments of tool calls. */
export class ToolRecords {
  /** Empty: looked up, but in no record. */
  #known = new Map<string, Recorded>();
  /** The cursor of the state that was held back at the last call. */
  #cursor: number | undefined;
  /** How often the records may still be requested for that state, if requests fail. */
  #tries = 0;

  constructor(
    private readonly calls: CurrentCalls,
    private readonly signal: AbortSignal,
  ) {}

  /**
   * Returns what is recorded of an event's call.
   * @param held a state that includes the event and others: the records of all of them are read at once
   */
  async of(event: JsonObject, held: Snapshot | undefined): Promise<Recorded | undefined> {
    const callId = textOf(event, 'call_id');
    if (held === undefined || held.cursor !== this.#cursor) this.#tries = 3;
    this.#cursor = held?.cursor;
    if (!this.#known.has(callId) && this.#tries-- > 0) await this.#read(callId);
    return this.#known.get(callId);
  }

  async #read(callId: string): Promise<void> {
    this.#known.set(callId, {});
    try {
      // A call is stored before it is announced. Replacing the map drops calls that are no longer recent.
      const { messages } = await this.calls.historyPage({ limit: RECENT, signal: this.signal });
      const recent = messages.flatMap(({ turnId, toolCalls }) =>
        toolCalls.map(({ callId, args }) => [callId, { turnId, args }] as const),
      );
      this.#known = new Map<string, Recorded>([[callId, {}], ...recent]);
      this.#tries = 0;
    } catch (error) {
      // Continues without the record. If the service is unreachable, the stream reports it.
      if (!(error instanceof ClientError) || error.kind === 'closed') throw error;
    }
  }
}
