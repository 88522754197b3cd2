import { Chat as Chat6 } from '@ai-sdk/react';
import type { ChatTransport, UIMessage } from 'ai';
import { Chat as Chat5 } from 'ai-sdk-react-2';
import { Chat as Chat7 } from 'ai-sdk-react-4';

/** The chats that `useChat` creates, by the version of the AI SDK. */
const CHATS = {
  // Its types differ where a field may be undefined; types.test.ts checks the adapter against its types.
  5: Chat5 as unknown as typeof Chat6<UIMessage>,
  6: Chat6<UIMessage>,
  7: Chat7<UIMessage>,
};

/** The versions of the AI SDK under test. */
export const VERSIONS = [5, 6, 7] as const;

export type Version = (typeof VERSIONS)[number];

/** A chat of the AI SDK with promises for what it shows. */
export type TestChat = Pick<
  Chat6<UIMessage>,
  'messages' | 'status' | 'error' | 'sendMessage' | 'regenerate' | 'stop' | 'resumeStream'
> & {
  /** Resolves once the messages satisfy a condition. */
  until(holds: (messages: readonly UIMessage[]) => boolean): Promise<void>;
  /** Resolves once the text of all messages contains these words. */
  shows(words: string): Promise<void>;
};

export function testChat(
  id: string,
  transport: ChatTransport<UIMessage>,
  messages: UIMessage[] = [],
  version: Version = 6,
): TestChat {
  const chat = new CHATS[version]({ id, transport, messages });
  const until: TestChat['until'] = async (holds) => {
    while (!holds(chat.messages)) {
      await new Promise<void>((resolve) => {
        const stop = chat['~registerMessagesCallback'](() => {
          stop();
          resolve();
        });
      });
    }
  };
  const shows: TestChat['shows'] = (words) => until((shown) => textOf(shown).includes(words));
  return Object.assign(chat, { until, shows });
}

/** Resumes a chat as `useChat` does in React's strict mode, where a component is mounted twice. */
export async function resumeTwice(chat: TestChat, version: Version): Promise<void> {
  const first = chat.resumeStream();
  const unmounted = version === 7 ? chat.stop() : undefined;
  await Promise.all([first, unmounted, chat.resumeStream()]);
}

/** All text of messages. */
export function textOf(messages: readonly UIMessage[]): string {
  return messages
    .flatMap(({ parts }) => parts)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}
