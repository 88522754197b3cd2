import { useChat } from '@ai-sdk/react';
import { DiptychChatTransport, isDiscarded } from '@diptych/client/ai-sdk';
import type { UIMessage } from 'ai';
import { StrictMode, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('service') ?? 'http://127.0.0.1:8080';
// The chat is in the address, so that a reload continues it.
if (location.hash === '') location.hash = crypto.randomUUID();
const id = location.hash.slice(1);
const transport = new DiptychChatTransport({ url });

function Chat({ stored }: { readonly stored: UIMessage[] }): ReactNode {
  const chat = useChat({ id, transport, messages: stored, resume: true });
  const [text, setText] = useState('');
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  return (
    <>
      {chat.messages.map((message) => (
        <section key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </section>
      ))}
      {chat.error && <p role="alert">{chat.error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setText('');
          void chat.sendMessage({ text });
        }}
      >
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <button disabled={isBusy || text === ''}>Send</button>
        {isBusy && (
          <button type="button" onClick={() => void chat.stop()}>
            Stop
          </button>
        )}
      </form>
    </>
  );
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
