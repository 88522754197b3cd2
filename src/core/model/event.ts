import type { JsonValue } from './json.js';
import type { ToolCall, ToolResult } from './message.js';
import type { TurnOutcome } from './turn.js';

/** The body of an event that is stored. Each event gets the session's next integer id. */
export type EventBody =
  | { readonly type: 'title_changed'; readonly title: string }
  | {
      readonly type: 'tool_update';
      readonly callId: string;
      readonly toolName: string;
      /** The tool's progress message; absent in the event that announces the call. */
      readonly message?: string;
    }
  | {
      readonly type: 'tool_complete';
      readonly callId: string;
      readonly toolName: string;
      readonly failed: boolean;
      readonly result: JsonValue;
      /** True if the tool has reported progress. */
      readonly multiStep?: boolean;
    }
  | { readonly type: 'system_notice'; readonly message: string };

/**
 * A stored event. The ids within a session are consecutive and continue after a restart, and after the session was
 * deleted and created again.
 */
export interface LoggedEvent {
  readonly id: number;
  readonly at: number;
  readonly body: EventBody;
}

/**
 * A live event of a running turn. Not stored: a subscriber that joins later reads the records.
 * `attempt` numbers the claim of the turn that emitted it. `position` is the index, within the turn, of the record that
 * the text will belong to; `offset` counts UTF-16 units in it. With these, a subscriber that joins late, or twice, can
 * emit each character once.
 */
export type TurnEvent =
  | { readonly type: 'turn_started'; readonly turnId: string; readonly attempt: number }
  | {
      readonly type: 'text';
      readonly turnId: string;
      readonly attempt: number;
      readonly position: number;
      readonly offset: number;
      /** The length of the text of the turn's earlier records, in UTF-16 units. */
      readonly before: number;
      readonly content: string;
    }
  | {
      readonly type: 'tool_called';
      readonly turnId: string;
      readonly attempt: number;
      readonly call: ToolCall;
      /**
       * The record of the call's step, the length of its text, and its number of calls. A subscriber detects from them
       * whether it has missed events.
       */
      readonly position: number;
      readonly length: number;
      readonly count: number;
    }
  | { readonly type: 'tool_returned'; readonly turnId: string; readonly result: ToolResult }
  | {
      readonly type: 'turn_ended';
      readonly turnId: string;
      readonly outcome: TurnOutcome;
      /** Why it failed, as a message for the user. */
      readonly error: string | null;
    };

/** Signals between nodes that are not events. */
export type Order =
  | { readonly type: 'session_changed'; readonly revision: number }
  | { readonly type: 'session_deleted' }
  /** The bus has lost signals: the subscriber must read from the store. */
  | { readonly type: 'missed' }
  | { readonly type: 'interrupt'; readonly turnId: string };

/** Everything that the bus delivers for a session. */
export type Signal = { readonly type: 'logged'; readonly event: LoggedEvent } | TurnEvent | Order;

export function isTurnEvent(signal: Signal): signal is TurnEvent {
  switch (signal.type) {
    case 'turn_started':
    case 'text':
    case 'tool_called':
    case 'tool_returned':
    case 'turn_ended':
      return true;
    case 'logged':
    case 'session_changed':
    case 'session_deleted':
    case 'missed':
    case 'interrupt':
      return false;
  }
  return signal satisfies never;
}

/** An entry of the snapshot's `system_events`. */
export interface SystemEvent {
  readonly kind: 'SystemError' | 'SystemNotice' | 'InlineCall';
  /** Words for the user; of an `InlineCall`, the JSON text of its object. */
  readonly text: string;
}

/** A system event that exactly one snapshot delivers. `n` orders them within the session. */
export interface SystemFault {
  readonly n: number;
  readonly kind: Exclude<SystemEvent['kind'], 'SystemNotice'>;
  readonly text: string;
}

/** The result of a write: the session's new revision and the events that it logged, in order. */
export interface Commit {
  readonly revision: number;
  readonly events: readonly LoggedEvent[];
}
