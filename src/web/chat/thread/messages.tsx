import { MessagePrimitive } from '@assistant-ui/react';
import type { ReactNode } from 'react';
import { isOfWallet } from '../../../client/wallet-words.js';
import { MarkdownText } from './markdown.js';
import { ToolCall } from './tool-call.js';

/** A user message as plain text. */
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

/** A reply: text and tool calls in order. */
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

/** A message of the service: an error of a turn, or what a wallet has reported. */
export function SystemMessage(): ReactNode {
  return (
    <MessagePrimitive.Root className="message system" data-role="system">
      <h2 className="visually-hidden">Service</h2>
      <MessagePrimitive.Parts components={{ Text: SystemText }} />
    </MessagePrimitive.Root>
  );
}

function SystemText({ text }: { readonly text: string }): ReactNode {
  return <p className={isOfWallet(text) ? 'plain of-wallet' : 'plain'}>{text}</p>;
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
