import { ThreadPrimitive } from '@assistant-ui/react';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';
import { focusInput } from './composer.js';
import { Message } from './messages.js';
import type { View, ViewMessage } from '../../../client/view/view.js';
import type { Shown } from './window.js';

/** Shown while no reply has begun. */
const NO_REPLY: ViewMessage = { id: '', role: 'assistant', blocks: [] };

/** The messages of a session, followed by the queued ones. */
export function Thread(props: {
  readonly view: View;
  readonly shown: Shown;
  /** True while a reply is running or queued. */
  readonly isAnswering: boolean;
  /** Prompts to begin with. */
  readonly prompts: readonly string[];
  /** Shown after the messages. */
  readonly requests: ReactNode;
}): ReactNode {
  const { view, shown, isAnswering, prompts, requests } = props;
  const last = shown.messages.at(-1);
  return (
    <ThreadPrimitive.Viewport className="viewport" role="region" aria-label="Conversation" tabIndex={0}>
      {view.isLoaded && view.messages.length === 0 && <Welcome prompts={prompts} />}
      {!view.isLoaded && view.connection === 'lost' && (
        <p className="waiting">The messages are shown once the service can be reached.</p>
      )}
      <div className="messages">
        {shown.earlier > 0 && (
          <button type="button" className="button small" onClick={shown.showEarlier}>
            Show earlier messages ({shown.earlier})
          </button>
        )}
        {shown.messages.map((message) => (
          <Message key={message.id} message={message} isRunning={isAnswering && message === last} />
        ))}
        {isAnswering && last?.role !== 'assistant' && <Message message={NO_REPLY} isRunning />}
        {requests}
        {view.queued.length > 0 && <Queue texts={view.queued} />}
      </div>
      <ThreadPrimitive.ScrollToBottom className="to-bottom" aria-label="To the end" title="To the end">
        <Icon name="down" />
      </ThreadPrimitive.ScrollToBottom>
    </ThreadPrimitive.Viewport>
  );
}

function Queue({ texts }: { readonly texts: readonly string[] }): ReactNode {
  return (
    <section className="queue" aria-label="Waiting messages">
      <h2>Queued</h2>
      <ol>
        {texts.map((text, index) => (
          <li key={index} dir="auto">
            {text}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Welcome({ prompts }: { readonly prompts: readonly string[] }): ReactNode {
  return (
    <div className="welcome">
      <h2>What can I help with?</h2>
      {prompts.length > 0 && (
        <ul aria-label="Examples">
          {prompts.map((prompt) => (
            <li key={prompt}>
              <ThreadPrimitive.Suggestion
                className="example"
                prompt={prompt}
                dir="auto"
                send
                clearComposer={false}
                onClick={focusInput}
              >
                {prompt}
              </ThreadPrimitive.Suggestion>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
