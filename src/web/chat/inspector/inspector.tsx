import { useId, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useObservable } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import { EventList } from './event-list.js';
import { RequestList } from './request-list.js';
import { StateEditor } from './state-editor.js';
import { Json } from '../../parts/json.js';
import type { Traffic } from '../conversation/traffic.js';

const TABS = ['Requests', 'Events', 'Snapshot', 'User state'] as const;
type Tab = (typeof TABS)[number];

/** Shows requests, events and the service's state of the session. */
export function Inspector(props: {
  readonly conversation: Conversation;
  readonly traffic: Traffic;
}): ReactNode {
  const { conversation, traffic } = props;
  const [tab, setTab] = useState<Tab>('Requests');
  const id = useId();
  const idOf = (name: Tab): string => `${id}${String(TABS.indexOf(name))}`;
  const move = (event: KeyboardEvent<HTMLElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] ?? tab;
    setTab(next);
    document.getElementById(idOf(next))?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label="Inspector" onKeyDown={move}>
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={idOf(name)}
            aria-selected={name === tab}
            aria-controls={`${id}panel`}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => {
              setTab(name);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div className="tab-panel" role="tabpanel" id={`${id}panel`} aria-labelledby={idOf(tab)} tabIndex={0}>
        <Content tab={tab} conversation={conversation} traffic={traffic} />
      </div>
    </>
  );
}

function Content(props: {
  readonly tab: Tab;
  readonly conversation: Conversation;
  readonly traffic: Traffic;
}): ReactNode {
  const { tab, conversation, traffic } = props;
  const { raw, userState, isLoaded } = useObservable(conversation.view);
  switch (tab) {
    case 'Requests':
      return <RequestList exchanges={traffic.exchanges} />;
    case 'Events':
      return <EventList events={traffic.events} />;
    case 'Snapshot':
      return raw === null ? (
        <p className="hint">No snapshot has come yet.</p>
      ) : (
        <Json value={raw} label="the snapshot" />
      );
    case 'User state':
      return isLoaded ? (
        <StateEditor key={conversation.client.sessionId} {...{ conversation, userState }} />
      ) : null;
  }
  return tab satisfies never;
}
