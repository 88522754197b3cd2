import { Chat, useChat } from '@ai-sdk/react';
import { DiptychChatTransport, isDiscarded } from '@diptych/client/ai-sdk';
import type { UIMessage } from 'ai';
import { StrictMode, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('service') ?? 'http://127.0.0.1:8080';
const transport = new DiptychChatTransport({
  url,
  // A changed message or another reply goes into a branch: a reload continues that one.
  onBranch: ({ chatId, sessionId }) => {
    chats.set(sessionId, chatOf(chatId));
    if (chatId === shownId) history.replaceState(null, '', `#${sessionId}`);
  },
});
/** The id of the chat that is shown. */
let shownId: string | undefined;

/** Outside of the components: a reply streams on while another chat is shown. */
const chats = new Map<string, Promise<Chat<UIMessage>>>();

function chatOf(id: string): Promise<Chat<UIMessage>> {
  const chat = chats.get(id) ?? load(id);
  chats.set(id, chat);
  return chat;
}

async function load(id: string): Promise<Chat<UIMessage>> {
  const chat = new Chat({ id, transport, messages: await transport.loadMessages(id) });
  // Continues the reply that is running.
  void chat.resumeStream();
  return chat;
}

function Conversation({ kept }: { readonly kept: Chat<UIMessage> }): ReactNode {
  const chat = useChat({ chat: kept });
  const [problem, setProblem] = useState<string | null>(null);
  const [text, setText] = useState('');
  const [changed, setChanged] = useState<string | null>(null);
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  return (
    <>
      <button
        type="button"
        onClick={() => {
          location.hash = crypto.randomUUID();
        }}
      >
        New chat
      </button>
      {chat.messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
          {!isBusy && message.role === 'user' && (
            <button
              type="button"
              onClick={() => {
                setChanged(message.id);
                setText(textOf(message));
              }}
            >
              Edit
            </button>
          )}
          {!isBusy && message.role === 'assistant' && (
            <button type="button" onClick={() => void chat.regenerate({ messageId: message.id })}>
              Regenerate
            </button>
          )}
        </section>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      {problem !== null && <p role="alert">{problem}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          setChanged(null);
          setProblem(null);
          void chat.sendMessage(changed === null ? { text } : { text, messageId: changed });
        }}
      >
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <button disabled={isBusy || text === ''}>{changed === null ? 'Send' : 'Send edited'}</button>
        {changed !== null && (
          <button
            type="button"
            onClick={() => {
              setChanged(null);
              setText('');
            }}
          >
            Cancel
          </button>
        )}
        {isBusy && (
          <button
            type="button"
            onClick={() => {
              transport.interrupt(chat.id).catch((error: unknown) => {
                setProblem(String(error));
              });
            }}
          >
            Stop
          </button>
        )}
      </form>
    </>
  );
}

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function Part({ part }: { readonly part: UIMessage['parts'][number] }): ReactNode {
  if (part.type === 'text') return isDiscarded(part) ? null : <p>{part.text}</p>;
  if (part.type !== 'dynamic-tool') return null;
  return (
    <details data-tool={part.state}>
      <summary>{part.toolName}</summary>
      <pre>{JSON.stringify({ input: part.input, output: part.output ?? part.errorText }, null, 2)}</pre>
    </details>
  );
}

const root = createRoot(document.getElementById('chat') ?? document.body);

/** Shows the chat in the address, so that a reload continues it. */
function show(): void {
  if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`);
  const id = location.hash.slice(1);
  const render = (page: ReactNode): void => {
    if (location.hash === `#${id}`) root.render(<StrictMode>{page}</StrictMode>);
  };
  chatOf(id).then(
    (chat) => {
      if (location.hash === `#${id}`) shownId = chat.id;
      render(<Conversation key={chat.id} kept={chat} />);
    },
    (error: unknown) => {
      chats.delete(id);
      render(<p role="alert">{String(error)}</p>);
    },
  );
}

addEventListener('hashchange', show);
show();
