import type { JsonValue } from './json.js';
import type { ToolCall, ToolResult } from './message.js';
import type { TurnOutcome } from './turn.js';

/** What can happen in a session and is kept: each gets the session's next integer id. */
export type EventBody =
  | { readonly type: 'title_changed'; readonly title: string }
  | {
      readonly type: 'tool_update';
      readonly callId: string;
      readonly toolName: string;
      /** What the tool says of its progress; absent on the announcement of the call. */
      readonly message?: string;
    }
  | {
      readonly type: 'tool_complete';
      readonly callId: string;
      readonly toolName: string;
      readonly failed: boolean;
      readonly result: JsonValue;
    }
  | { readonly type: 'system_notice'; readonly message: string };

/** An event as it was kept. Ids of a session grow by one and survive restarts and deletion. */
export interface LoggedEvent {
  readonly id: number;
  readonly at: number;
  readonly body: EventBody;
}

/**
 * What can be watched of a turn while it runs. These are not kept: whoever comes later reads the records.
 * `attempt` is the claim of the turn that made it. `position` is the place in the turn of the record that the text will
 * belong to, `offset` counts UTF-16 units in it, so that a watcher who joins late, or twice, shows each character once.
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
       * The record of its step, how much text that has, and how many calls: a watcher sees whether it has missed some.
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
      /** Words for the user on why it failed. */
      readonly error: string | null;
    };

/** What the bus carries beside events: orders between nodes. */
export type Order =
  | { readonly type: 'session_changed'; readonly revision: number }
  | { readonly type: 'session_deleted' }
  /** The bus could not carry something: look into the store. */
  | { readonly type: 'missed' }
  | { readonly type: 'interrupt'; readonly turnId: string };

/** Everything that the bus carries for a session. */
export type Signal = { readonly type: 'logged'; readonly event: LoggedEvent } | TurnEvent | Order;

/** Whether a signal is an event of a turn. */
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
  readonly kind: 'SystemError' | 'SystemNotice';
  readonly text: string;
}

/** A `SystemError` that no snapshot has carried yet. `n` orders them within the session. */
export interface SystemFault {
  readonly n: number;
  readonly text: string;
}

/** What a write left behind: the session's new revision and the events that it logged, in order. */
export interface Commit {
  readonly revision: number;
  readonly events: readonly LoggedEvent[];
}
