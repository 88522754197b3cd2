import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { CopyButton } from '../../parts/copy-button.js';
import { Icon, type IconName } from '../../parts/icon.js';
import { textOf } from '../../../client/view/history.js';
import type { ViewMessage } from '../../../client/view/view.js';
import { useActions } from './actions.js';

/** A button of a message: an icon with a label. */
export function MessageButton(props: {
  readonly icon: IconName;
  readonly label: string;
  readonly button?: RefObject<HTMLButtonElement | null>;
  readonly onClick: () => void;
}): ReactNode {
  const { icon, label, button, onClick } = props;
  return (
    <button
      ref={button}
      type="button"
      className="icon-button small"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** Copies the text of a message. */
export function CopyMessage({ message }: { readonly message: ViewMessage }): ReactNode {
  const text = textOf(message);
  return text === '' ? null : <CopyButton text={text} label="Copy message" />;
}

/** Marks a message that did not come to its end. */
export function Fate({ fate }: { readonly fate: NonNullable<ViewMessage['fate']> }): ReactNode {
  return <span className="fate">{fate === 'interrupted' ? 'Interrupted' : 'Cancelled'}</span>;
}

/** Sends the user message of a turn again. */
export function SendAgain({ id, label }: { readonly id: string; readonly label: string }): ReactNode {
  const { sendAgain } = useActions();
  return (
    <button
      type="button"
      className="button small"
      onClick={() => {
        sendAgain(id);
      }}
    >
      {label}
    </button>
  );
}

/** The time of a message. */
export function Time({ at }: { readonly at: string }): ReactNode {
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
    </time>
  );
}

/**
 * Changes the text of a user message. Enter sends it, Esc leaves it as it was. The editor remains until its owner closes
 * it: what could not be sent can be changed and sent again.
 */
export function Editor(props: {
  readonly text: string;
  readonly takesFocus: boolean;
  readonly onChange: (text: string) => void;
  readonly onSend: (text: string) => Promise<void>;
  readonly onLeave: () => void;
}): ReactNode {
  const { text, takesFocus, onChange, onSend, onLeave } = props;
  const [draft, setDraft] = useState(text);
  const [isSending, setSending] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!takesFocus) return;
    input.current?.focus();
    input.current?.setSelectionRange(text.length, text.length);
  }, [text, takesFocus]);
  const isReady = draft.trim() !== '' && !isSending;
  const send = async (): Promise<void> => {
    if (!isReady) return;
    setSending(true);
    await onSend(draft);
    setSending(false);
  };
  return (
    <form
      className="editor"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={input}
        aria-label="Edit message"
        dir="auto"
        rows={Math.min(10, draft.split('\n').length + 1)}
        value={draft}
        onChange={(event) => {
          setDraft(event.target.value);
          onChange(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Escape') {
            event.preventDefault();
            onLeave();
          } else if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            void send();
          }
        }}
      />
      <div className="message-bar">
        <p className="hint">Goes on in a branch; this thread stays as it is.</p>
        <button type="button" className="button small" onClick={onLeave}>
          Cancel
        </button>
        <button type="submit" className="button primary small" disabled={!isReady}>
          Send edited
        </button>
      </div>
    </form>
  );
}
