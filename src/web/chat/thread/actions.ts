import { createContext, useContext, useMemo } from 'react';
import { isFirst, textOf } from '../../../client/view/history.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Drafts } from '../conversation/drafts.js';
import type { ViewMessage } from '../../../client/view/view.js';

/** What can be done with a message, by its id. */
export interface MessageActions {
  /** True if the thread can be branched, which another reply and an edited message need. */
  readonly canBranch: boolean;
  /** True if a user message began the turn of this message: the outcome of a wallet cannot be sent again. */
  readonly isOfUser: (id: string) => boolean;
  /**
   * Sends another text in the place of a user message, in a branch of the thread.
   * @returns false if the thread could not be branched
   */
  readonly edit: (id: string, text: string) => Promise<boolean>;
  /** Returns the unsent text in the editor of a stored message. Undefined: the editor is closed. */
  readonly editOf: (messageId: string) => string | undefined;
  /** Stores the text in the editor of a stored message; null: the editor was closed. */
  readonly writeEdit: (messageId: string, text: string | null) => void;
  /** Asks for another reply, in a branch of the thread. */
  readonly regenerate: (id: string) => void;
  /** Sends the user message of this turn again, in the thread. */
  readonly sendAgain: (id: string) => void;
}

const Context = createContext<MessageActions>({
  canBranch: false,
  isOfUser: () => false,
  edit: () => Promise.resolve(false),
  editOf: () => undefined,
  writeEdit: () => undefined,
  regenerate: () => undefined,
  sendAgain: () => undefined,
});

export const ActionsProvider = Context.Provider;

export function useActions(): MessageActions {
  return useContext(Context);
}

/**
 * Creates the actions of a conversation.
 * @param does `send`: sends a text; `sendIn`: opens another session and sends a text there; `fail`: shows an error
 */
export function useMessageActions(
  conversation: Conversation,
  drafts: Drafts,
  {
    send,
    sendIn,
    fail,
  }: {
    readonly send: (text: string) => Promise<void>;
    readonly sendIn: (sessionId: string, text: string) => void;
    readonly fail: (error: unknown) => void;
  },
): MessageActions {
  return useMemo(() => {
    /** The messages whose actions have not ended: a second click must not send the message twice. */
    const busy = new Set<string>();
    const once = async <T>(id: string, act: () => Promise<T>): Promise<T | undefined> => {
      if (busy.has(id)) return undefined;
      busy.add(id);
      try {
        return await act();
      } finally {
        busy.delete(id);
      }
    };
    /** Sends a text in a branch that ends before the turn of a message. Returns false if there is no branch. */
    const inBranch = async (id: string, text?: string): Promise<boolean> => {
      const first = firstOf(conversation.view.get().messages, id);
      if (first?.origin === undefined) return false;
      try {
        sendIn(await conversation.branch(first.origin.messageId), text ?? textOf(first));
        return true;
      } catch (error) {
        fail(error);
        return false;
      }
    };
    const { sessionId } = conversation.client;
    return {
      canBranch: conversation.canBranch,
      isOfUser: (id) => firstOf(conversation.view.get().messages, id) !== undefined,
      edit: async (id, text) => (await once(id, () => inBranch(id, text))) ?? false,
      editOf: (messageId) => drafts.editOf(sessionId, messageId),
      writeEdit: (messageId, text) => {
        drafts.writeEdit(sessionId, messageId, text);
      },
      regenerate: (id) => {
        void once(id, () => inBranch(id));
      },
      sendAgain: (id) => {
        const first = firstOf(conversation.view.get().messages, id);
        if (first !== undefined) void once(id, () => send(textOf(first)));
      },
    };
  }, [conversation, drafts, send, sendIn, fail]);
}

/** Returns the user message that begins the turn of a message; undefined if a wallet began it. */
function firstOf(messages: readonly ViewMessage[], id: string): ViewMessage | undefined {
  const index = messages.findIndex((message) => message.id === id);
  const first = messages.slice(0, index + 1).findLast(isFirst);
  return first?.role === 'user' ? first : undefined;
}
