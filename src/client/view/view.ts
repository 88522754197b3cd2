import type { HistoryCall, HistoryPage, HistoryTurn, JsonObject, SessionState } from '../types.js';

/** A tool call. */
export interface ToolBlock {
  readonly kind: 'tool';
  /** Null if only the result is known. */
  readonly callId: string | null;
  readonly name: string;
  /** Null: not known yet, or not available. */
  readonly args: JsonObject | null;
  readonly status: 'running' | 'complete' | 'failed';
  /** The last progress message. */
  readonly progress: string | null;
  readonly result: string | null;
}

/** A block of text. */
export interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
}

/** A part of a message. */
export type Block = TextBlock | ToolBlock;

/** Where a message is stored, and how its turn went. */
export interface Origin {
  /** The id of its stored message; of a reply, of its first step. */
  readonly messageId: string;
  readonly turn: HistoryTurn;
  /** The time of the reply's first character (ISO 8601); null: it has no text. */
  readonly spokenAt: string | null;
}

/** A message as shown. All steps of a reply form one message. */
export interface ViewMessage {
  /** Derived from the position in the thread, so it is stable. */
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: readonly Block[];
  /** The time of the message (ISO 8601); of a reply, of its first character. Absent until a state has it. */
  readonly at?: string;
  /** Absent: not known yet, or not available. */
  readonly origin?: Origin | undefined;
  /** A reply that was interrupted, or a user message that was cancelled before its reply began. */
  readonly fate?: 'interrupted' | 'cancelled';
}

/** A sent message that no state contains yet. */
export interface Unseen {
  readonly key: string;
  readonly text: string;
}

/** The running turn, identified by the message that began it: the user's, or the report of a wallet. */
export interface OpenTurn {
  /** The number of such messages up to and including the turn's own. */
  readonly ordinal: number;
  /** Null: not known yet, or not available. */
  readonly id: string | null;
  /** The previous turn, whose end may be reported late. */
  readonly before: string | null;
}

/** The state of a session as shown on the page. */
export interface View {
  readonly connection: 'connecting' | 'open' | 'lost';
  /** False until the first state was received. */
  readonly isLoaded: boolean;
  readonly title: string | null;
  /** The status in the last state. */
  readonly status: SessionState['status'];
  readonly messages: readonly ViewMessage[];
  /** The texts of queued messages. */
  readonly queued: readonly string[];
  readonly unseen: readonly Unseen[];
  readonly turn: OpenTurn | null;
  /** The number of user messages in the last state. */
  readonly statedUsers: number;
  /** The number of turns that have certainly ended, also without a reply: the last idle state and the history tell. */
  readonly settledTurns: number;
  readonly calls: readonly HistoryCall[];
  /** The stored messages as far as they were read. */
  readonly history: HistoryPage | null;
  readonly userState: JsonObject | null;
  /** The unprocessed last state. */
  readonly raw: JsonObject | null;
  readonly notices: readonly string[];
}

/** The view before the first event. */
export const EMPTY_VIEW: View = {
  connection: 'connecting',
  isLoaded: false,
  title: null,
  status: 'idle',
  messages: [],
  queued: [],
  unseen: [],
  turn: null,
  statedUsers: 0,
  settledTurns: 0,
  calls: [],
  history: null,
  userState: null,
  raw: null,
  notices: [],
};

/** True while a turn is running or queued. */
export function isBusy({ turn, queued }: View): boolean {
  return turn !== null || queued.length > 0;
}
