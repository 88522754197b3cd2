import {
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react';
import { createClient, type Client } from '@diptych/client';
import { useDiptychRuntime } from '@diptych/client/assistant-ui';
import { StrictMode, useEffect, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('service') ?? 'http://127.0.0.1:8080';

/** Creates the client in the effect that closes it: `StrictMode` runs both twice. */
function Thread({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [client, setClient] = useState<Client | null>(null);
  useEffect(() => {
    const created = createClient({ url, sessionId });
    setClient(created);
    return () => {
      created.close();
    };
  }, [sessionId]);
  return client && <Chat client={client} />;
}

function Chat({ client }: { readonly client: Client }): ReactNode {
  const { runtime, view, error } = useDiptychRuntime(client);
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <h1>{view.title}</h1>
      <ThreadPrimitive.Messages>
        {({ message }) => (
          <MessagePrimitive.Root data-role={message.role}>
            <MessagePrimitive.Parts components={{ Text, tools: { Fallback: Tool } }} />
          </MessagePrimitive.Root>
        )}
      </ThreadPrimitive.Messages>
      {error && <p role="alert">{error.message}</p>}
      <ComposerPrimitive.Root>
        <ComposerPrimitive.Input aria-label="Message" />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        <AuiIf condition={({ thread }) => thread.isRunning}>
          <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
        </AuiIf>
      </ComposerPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

function Text({ text }: { readonly text: string }): ReactNode {
  return <p>{text}</p>;
}

function Tool({ toolName, argsText, result }: ToolCallMessagePartProps): ReactNode {
  const output: unknown = result;
  return (
    <details data-tool={output === undefined ? 'running' : 'ended'}>
      <summary>{toolName}</summary>
      <pre>
        {argsText} {String(output)}
      </pre>
    </details>
  );
}

const root = createRoot(document.getElementById('chat') ?? document.body);

/** Shows the session in the address, so that a reload continues it. */
function show(): void {
  if (location.hash === '') history.replaceState(null, '', `#${crypto.randomUUID()}`);
  const sessionId = location.hash.slice(1);
  root.render(
    <StrictMode>
      <Thread key={sessionId} sessionId={sessionId} />
    </StrictMode>,
  );
}

addEventListener('hashchange', show);
show();
