import type { ChatTransport, UIMessage } from 'ai';
import { beginsStoredTurn } from '../messages.js';

/** What a request of the AI SDK sends. */
export interface MessageToSend {
  /** The id of the message in the chat. */
  readonly id: string;
  readonly text: string;
  /** True for another version of a message or of its reply. */
  readonly isAnother: boolean;
}

/** @throws Error for what the service cannot send: a message of the assistant, files */
export function messageToSend({
  trigger,
  messageId,
  messages,
}: Pick<
  Parameters<ChatTransport<UIMessage>['sendMessages']>[0],
  'trigger' | 'messageId' | 'messages'
>): MessageToSend {
  const isRegenerated = trigger === 'regenerate-message';
  // Errors of a turn may follow the message that began it.
  const message = isRegenerated ? messages.findLast(beginsTurn) : messages.at(-1);
  if (message?.role !== 'user')
    throw new Error(
      isRegenerated
        ? 'Only a reply to a message of the user can be generated again'
        : 'Only a message of the user can be sent: the service keeps the messages before it',
    );
  return { id: message.id, text: textOf(message), isAnother: isRegenerated || messageId !== undefined };
}

function beginsTurn(message: UIMessage): boolean {
  const content = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return beginsStoredTurn({ role: message.role, content });
}

function textOf({ parts }: UIMessage): string {
  return parts
    .map((part) => {
      if (part.type !== 'text')
        throw new Error(`The service takes text only, not a part of type ${part.type}`);
      return part.text;
    })
    .join('\n');
}
