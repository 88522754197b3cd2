import type { JsonObject } from '../../../client/types.js';

/** A call of a tool, as it stands. */
export interface ToolBlock {
  readonly kind: 'tool';
  /** Null where only the outcome is known. */
  readonly callId: string | null;
  readonly name: string;
  /** Null: not known (yet). */
  readonly args: JsonObject | null;
  readonly status: 'running' | 'complete' | 'failed';
  /** How far it is. */
  readonly progress: string | null;
  readonly result: string | null;
}

/** A stretch of text. */
export interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
}

/** What a message is made of. */
export type Block = TextBlock | ToolBlock;

/** What is shown as one message: an answer is one, whatever steps it took. */
export interface ViewMessage {
  /** Its place in the thread, which it keeps. */
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: readonly Block[];
}

/** A message on its way that no state has shown yet. */
export interface Unseen {
  readonly key: string;
  readonly text: string;
}

/** The turn that runs, by the user message that it answers. */
export interface OpenTurn {
  /** How many user messages there are up to its own. */
  readonly ordinal: number;
  /** Null: not told (yet). */
  readonly id: string | null;
  /** The turn before it, whose end may be told late. */
  readonly before: string | null;
}

/** A call with its arguments, as the history has it. */
export interface RecordedCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
  /** As text; null while there is none. */
  readonly result: string | null;
  readonly failed: boolean;
}

/** One session as it is shown. */
export interface View {
  readonly connection: 'connecting' | 'open' | 'lost';
  /** False until the first state has come. */
  readonly isLoaded: boolean;
  readonly title: string | null;
  readonly messages: readonly ViewMessage[];
  /** Texts that wait behind the running turn. */
  readonly queued: readonly string[];
  readonly unseen: readonly Unseen[];
  readonly turn: OpenTurn | null;
  /** How many user messages the last state had. */
  readonly statedUsers: number;
  readonly calls: readonly RecordedCall[];
  readonly userState: JsonObject | null;
  /** The last state as it came. */
  readonly raw: JsonObject | null;
  readonly notices: readonly string[];
}

/** Before anything is known. */
export const EMPTY_VIEW: View = {
  connection: 'connecting',
  isLoaded: false,
  title: null,
  messages: [],
  queued: [],
  unseen: [],
  turn: null,
  statedUsers: 0,
  calls: [],
  userState: null,
  raw: null,
  notices: [],
};

/** Whether the assistant works, or is about to. */
export function isBusy({ turn, queued }: View): boolean {
  return turn !== null || queued.length > 0;
}
