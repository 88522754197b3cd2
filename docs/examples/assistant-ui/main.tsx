import {
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react';
import { createClient } from '@diptych/client';
import { useDiptychRuntime } from '@diptych/client/assistant-ui';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('service') ?? 'http://127.0.0.1:8080';
// The session is in the address, so that a reload continues it.
if (location.hash === '') location.hash = crypto.randomUUID();
const client = createClient({ url, sessionId: location.hash.slice(1) });

function Chat(): ReactNode {
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

createRoot(document.getElementById('chat') ?? document.body).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
);
