import { MessagePrimitive } from '@assistant-ui/react';
import { memo, useState, type ReactNode } from 'react';
import { isOfWallet } from '../../../client/wallet-words.js';
import { textOf } from '../../../client/view/history.js';
import type { Origin, ViewMessage } from '../../../client/view/view.js';
import { useActions } from './actions.js';
import { CopyMessage, Editor, Fate, MessageButton, SendAgain, Time } from './message-parts.js';
import { MarkdownText } from './text/markdown.js';
import { ToolCall } from './tool-call.js';
import { TurnFacts } from './turn-facts.js';

interface Props {
  readonly message: ViewMessage;
}

const USER_PARTS = { Text: ({ text }: { readonly text: string }) => <p className="plain">{text}</p> };
const ASSISTANT_PARTS = { Text: MarkdownText, Empty: Working, tools: { Fallback: ToolCall } };
const SYSTEM_PARTS = { Text: SystemText };

/** A user message as plain text. */
export const UserMessage = memo(function UserMessage({ message }: Props): ReactNode {
  const [isEdited, setEdited] = useState(false);
  const { canBranch, edit } = useActions();
  const { id, at, fate, origin } = message;
  return (
    <MessagePrimitive.Root className="message user" data-role="user">
      <h2 className="visually-hidden">You</h2>
      {isEdited ? (
        <Editor
          text={textOf(message)}
          onSend={(text) => {
            setEdited(false);
            edit(id, text);
          }}
          onLeave={() => {
            setEdited(false);
          }}
        />
      ) : (
        <div className="bubble">
          <MessagePrimitive.Parts components={USER_PARTS} />
        </div>
      )}
      {!isEdited && (
        <div className="message-bar">
          {fate !== undefined && <Fate fate={fate} />}
          {fate !== undefined && <SendAgain id={id} label="Send again" />}
          {at !== undefined && <Time at={at} />}
          <CopyMessage message={message} />
          {canBranch && hasEnded(origin) && (
            <MessageButton
              icon="rename"
              label="Edit message"
              onClick={() => {
                setEdited(true);
              }}
            />
          )}
        </div>
      )}
    </MessagePrimitive.Root>
  );
});

/** A reply: text and tool calls in order. */
export const AssistantMessage = memo(function AssistantMessage({ message }: Props): ReactNode {
  const { canBranch, regenerate } = useActions();
  const { id, at, fate, origin } = message;
  return (
    <MessagePrimitive.Root className="message assistant" data-role="assistant">
      <h2 className="visually-hidden">Assistant</h2>
      <MessagePrimitive.Parts components={ASSISTANT_PARTS} />
      {at !== undefined && (
        <div className="message-bar">
          <CopyMessage message={message} />
          {canBranch && hasEnded(origin) && (
            <MessageButton
              icon="again"
              label="Regenerate"
              onClick={() => {
                regenerate(id);
              }}
            />
          )}
          {fate !== undefined && <Fate fate={fate} />}
          <TurnFacts at={at} origin={origin} />
        </div>
      )}
    </MessagePrimitive.Root>
  );
});

/** A message of the service: an error of a turn, or what a wallet has reported. */
export const SystemMessage = memo(function SystemMessage({ message }: Props): ReactNode {
  return (
    <MessagePrimitive.Root className="message system" data-role="system">
      <h2 className="visually-hidden">Service</h2>
      <MessagePrimitive.Parts components={SYSTEM_PARTS} />
      {!isOfWallet(textOf(message)) && <SendAgain id={message.id} label="Try again" />}
    </MessagePrimitive.Root>
  );
});

/** True for a message of a turn that is known to have ended. */
function hasEnded(origin: Origin | undefined): boolean {
  return origin !== undefined && origin.turn.endedAt !== null;
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
