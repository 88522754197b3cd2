import { useEffect, useState, type ReactNode } from 'react';
import { useObservable } from '../parts/observable.js';
import { Conversation } from './conversation/conversation.js';
import { Desk } from './desk.js';
import { serviceBase, useSurfaces } from './service.js';
import type { Settings, SettingsStore } from './settings.js';
import type { Traffic } from './conversation/traffic.js';

/** The page at `/`: one conversation at a time, on either surface. */
export function Page(props: { readonly settings: SettingsStore; readonly traffic: Traffic }): ReactNode {
  const { settings: store, traffic } = props;
  const settings = useObservable(store);
  const [base] = useState(serviceBase);
  const surfaces = useSurfaces(base);
  const [only] = surfaces ?? [];
  const isExposed = surfaces?.includes(settings.surface) ?? false;
  useEffect(() => {
    if (only !== undefined && !isExposed) store.change({ surface: only });
  }, [only, isExposed, store]);
  const conversation = useConversation(
    isExposed ? settings : null,
    { base, hasHistory: surfaces?.includes('current') ?? false },
    traffic,
  );
  if (conversation === null || surfaces === null)
    return <p className="waiting">Connecting to the service…</p>;
  return (
    <Desk
      {...{ conversation, settings, surfaces, traffic }}
      onChange={(some) => {
        store.change(some);
      }}
    />
  );
}

/** Returns the conversation of the current settings, and creates a new one when they name another. */
function useConversation(
  settings: Settings | null,
  around: { readonly base: string; readonly hasHistory: boolean },
  traffic: Traffic,
): Conversation | null {
  const [conversation, setConversation] = useState<Conversation | null>(null);
  const { base, hasHistory } = around;
  const identity =
    settings === null
      ? ''
      : JSON.stringify([settings.surface, settings.sessionId, settings.app, settings.key]);
  useEffect(() => {
    if (settings === null) return;
    const { addExchange, addEvent } = traffic;
    const next = new Conversation(settings, {
      ...{ base, hasHistory, onExchange: addExchange, onWireEvent: addEvent },
    });
    next.start();
    setConversation(next);
    return () => {
      next.close();
    };
    // A change of the wallet does not start a new conversation.
  }, [identity, base, hasHistory, traffic]);
  return conversation;
}
