import { useChat } from '@ai-sdk/react';
import { DiptychChatTransport, isDiscarded } from '@diptych/client/ai-sdk';
import type { UIMessage } from 'ai';
import { StrictMode, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('service') ?? 'http://127.0.0.1:8080';
// The chat is in the address, so that a reload continues it.
if (location.hash === '') location.hash = crypto.randomUUID();
const id = location.hash.slice(1);
const transport = new DiptychChatTransport({
  url,
  // A changed message or another reply goes into a branch: a reload continues that one.
  onBranch: ({ sessionId }) => {
    history.replaceState(null, '', `#${sessionId}`);
  },
});

function Chat({ stored }: { readonly stored: UIMessage[] }): ReactNode {
  const chat = useChat({ id, transport, messages: stored, resume: true });
  const [text, setText] = useState('');
  const [changed, setChanged] = useState<string | null>(null);
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  return (
    <>
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
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          setChanged(null);
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
          <button type="button" onClick={() => void chat.stop()}>
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
transport.loadMessages(id).then(
  (stored) => {
    root.render(
      <StrictMode>
        <Chat stored={stored} />
      </StrictMode>,
    );
  },
  (error: unknown) => {
    root.render(<p role="alert">{String(error)}</p>);
  },
);
