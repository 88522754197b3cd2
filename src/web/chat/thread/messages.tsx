import { memo, useEffect, useState, type ReactNode } from 'react';
import { useReturningFocus } from '../../parts/focus.js';
import { isOfWallet } from '../../../client/wallet-words.js';
import { textOf } from '../../../client/view/history.js';
import type { Block, Origin, ViewMessage } from '../../../client/view/view.js';
import { visible } from '../../../client/visible-text.js';
import { Icon } from '../../parts/icon.js';
import { inUserWords } from '../conversation/user-words.js';
import { useActions } from './actions.js';
import { CopyMessage, Editor, Fate, MessageButton, SendAgain, Time } from './message-parts.js';
import { Markdown } from './text/markdown.js';
import { ToolCall } from './tool-call.js';
import { TurnFacts } from './turn-facts.js';

/** Maximum length of a message about the wallet, in characters. The service writes shorter ones. */
const MAX_SYSTEM_TEXT = 20_000;

interface Props {
  readonly message: ViewMessage;
  /** True for the last message while a reply is generated. */
  readonly isRunning: boolean;
}

/** Renders a message. It is rendered again only when it changes, however often another one does. */
export const Message = memo(function Message(props: Props): ReactNode {
  switch (props.message.role) {
    case 'user':
      return <UserMessage {...props} />;
    case 'assistant':
      return <AssistantMessage {...props} />;
    case 'system':
      return <SystemMessage {...props} />;
  }
});

/** A user message as plain text. */
function UserMessage({ message }: Props): ReactNode {
  const [editor, setEditor] = useState<{ readonly text: string; readonly takesFocus: boolean } | null>(null);
  const isEdited = editor !== null;
  const editButton = useReturningFocus(isEdited);
  const { canBranch, edit, editOf, writeEdit } = useActions();
  const { id, at, fate, origin } = message;
  const storedId = canBranch && hasEnded(origin) ? origin.messageId : null;
  useEffect(() => {
    const text = storedId === null ? undefined : editOf(storedId);
    if (text !== undefined) setEditor({ text, takesFocus: false });
  }, [storedId, editOf]);
  const keep = (text: string | null): void => {
    if (storedId !== null) writeEdit(storedId, text);
  };
  const leave = (): void => {
    keep(null);
    setEditor(null);
  };
  return (
    <div className="message user" data-role="user">
      <h2 className="visually-hidden">You</h2>
      {isEdited ? (
        <Editor
          {...editor}
          onChange={keep}
          onSend={async (text) => {
            if (await edit(id, text)) leave();
          }}
          onLeave={leave}
        />
      ) : (
        <div className="bubble">
          <p className="plain" dir="auto">
            {textOf(message)}
          </p>
        </div>
      )}
      {!isEdited && (
        <div className="message-bar">
          {fate !== undefined && <Fate fate={fate} />}
          {fate !== undefined && <SendAgain id={id} label="Send again" />}
          {at !== undefined && <Time at={at} />}
          <CopyMessage message={message} />
          {storedId !== null && (
            <MessageButton
              icon="rename"
              label="Edit message"
              button={editButton}
              onClick={() => {
                setEditor({ text: textOf(message), takesFocus: true });
              }}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** A reply: text and tool calls in order. */
function AssistantMessage({ message, isRunning }: Props): ReactNode {
  const { canBranch, isOfUser, regenerate } = useActions();
  const { id, blocks, at, fate, origin } = message;
  return (
    <div className="message assistant" data-role="assistant">
      <h2 className="visually-hidden">Assistant</h2>
      {blocks.map((block, index) => (
        <Part key={index} block={block} />
      ))}
      {blocks.length === 0 && isRunning && <Working />}
      {at !== undefined && (
        <div className="message-bar">
          <CopyMessage message={message} />
          {canBranch && hasEnded(origin) && isOfUser(id) && (
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
    </div>
  );
}

/** A message of the service: an error of a turn, or what a wallet has reported. */
function SystemMessage({ message }: Props): ReactNode {
  const { isOfUser } = useActions();
  const text = textOf(message);
  if (isOfWallet(text)) return <WalletMessage text={text} />;
  return (
    <div className="message system" data-role="system">
      <h2 className="visually-hidden">Service</h2>
      <p className="plain" dir="auto">
        {inUserWords(text)}
      </p>
      {isOfUser(message.id) && <SendAgain id={message.id} label="Try again" />}
    </div>
  );
}

/** A wallet's report, or the service's verdict on it. A reply cannot imitate the heading with its icon. */
function WalletMessage({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="message system of-wallet" data-role="system">
      <h2>
        <Icon name="wallet" /> Service
      </h2>
      <p className="plain">
        {partsOf(visible(text, MAX_SYSTEM_TEXT)).map(({ words, isLabel }, index) =>
          isLabel ? (
            <q key={index} dir="auto" title="The assistant’s words">
              {words}
            </q>
          ) : (
            words
          ),
        )}
      </p>
    </div>
  );
}

/** Separates the labels of requests, which come from the assistant, from the service's text around them. */
function partsOf(text: string): readonly { readonly words: string; readonly isLabel: boolean }[] {
  return text.split(/(?<=\d )\(([^()\n]*)\)/).map((words, index) => ({ words, isLabel: index % 2 === 1 }));
}

/** True for a message of a turn that is known to have ended. */
function hasEnded(origin: Origin | undefined): origin is Origin {
  return origin !== undefined && origin.turn.endedAt !== null;
}

function Part({ block }: { readonly block: Block }): ReactNode {
  return block.kind === 'text' ? <Markdown text={block.text} /> : <ToolCall call={block} />;
}

function Working(): ReactNode {
  return (
    <p className="working" aria-hidden="true">
      <i />
      <i />
      <i />
    </p>
  );
}
