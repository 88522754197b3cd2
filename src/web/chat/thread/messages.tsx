import { MessagePrimitive } from '@assistant-ui/react';
import type { ReactNode } from 'react';
import { MarkdownText } from './markdown.js';
import { ToolCall } from './tool-call.js';

/** What a user said, as it was typed. */
export function UserMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="message user" data-role="user">
      <h2 className="visually-hidden">You</h2>
      <div className="bubble">
        <MessagePrimitive.Parts components={{ Text: ({ text }) => <p className="plain">{text}</p> }} />
      </div>
    </MessagePrimitive.Root>
  );
}

/** An answer: text and tool calls in their order. */
export function AssistantMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="message assistant" data-role="assistant">
      <h2 className="visually-hidden">Assistant</h2>
      <MessagePrimitive.Parts
        components={{ Text: MarkdownText, Empty: Working, tools: { Fallback: ToolCall } }}
      />
    </MessagePrimitive.Root>
  );
}

/** What the service has to say of a turn, such as why it failed. */
export function SystemMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="message system" data-role="system">
      <h2 className="visually-hidden">Service</h2>
      <MessagePrimitive.Parts components={{ Text: ({ text }) => <p className="plain">{text}</p> }} />
    </MessagePrimitive.Root>
  );
}

function Working({ status }: { readonly status: { readonly type: string } }): ReactNode {
  if (status.type !== 'running') return null;
  return (
    <p className="working" aria-hidden="true">
      <i />
      <i />
      <i />
    </p>
  );
}
