import type { AssistantRuntime } from '@assistant-ui/react';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Client, SendOptions } from '../types.js';
import { LiveView } from '../view/live-view.js';
import type { View } from '../view/view.js';
import { useThreadRuntime } from './thread-runtime.js';

export type { Block, TextBlock, ToolBlock, View, ViewMessage } from '../view/view.js';

/** The options of `useDiptychRuntime`. */
export interface RuntimeOptions {
  /** Returns what is sent with each message, such as the wallet. */
  readonly sendOptions?: () => Pick<SendOptions, 'wallet' | 'userState'>;
}

/** A session for assistant-ui. */
export interface DiptychRuntime {
  /** For `AssistantRuntimeProvider`. */
  readonly runtime: AssistantRuntime;
  /** The session as shown: connection, title, queued messages, notices. */
  readonly view: View;
  /** Why the last action failed, or why the session cannot be followed; null if neither. */
  readonly error: Error | null;
}

/**
 * Connects assistant-ui to the session of a client: shows its messages, follows its turns, also those that other clients started, sends
 * messages and interrupts.
 * @param client stays the same between renders; the caller closes it
 */
export function useDiptychRuntime(client: Client, options: RuntimeOptions = {}): DiptychRuntime {
  const { sendOptions } = options;
  const [error, setError] = useState<Error | null>(null);
  const live = useLiveView(client, setError);
  const view = useSyncExternalStore(live.subscribe, live.get, live.get);

  const attempt = useCallback(
    async (action: () => Promise<void>): Promise<void> => {
      setError(null);
      try {
        await action();
      } catch (reason) {
        if (!live.closed.aborted) setError(errorOf(reason));
      }
    },
    [live],
  );
  const send = useCallback(
    (text: string) =>
      attempt(() =>
        live.send(text, (idempotencyKey) => client.send(text, { ...sendOptions?.(), idempotencyKey })),
      ),
    [attempt, live, client, sendOptions],
  );
  const interrupt = useCallback(() => attempt(() => live.interrupt()), [attempt, live]);
  const runtime = useThreadRuntime(view, view.messages, { send, interrupt });
  return useMemo(() => ({ runtime, view, error }), [runtime, view, error]);
}

/** Follows the client's session while the component is mounted. */
function useLiveView(client: Client, onError: (error: Error | null) => void): LiveView {
  const [live, setLive] = useState(() => viewOf(client));
  useEffect(() => {
    // A view that was closed stays closed: a component that is mounted again gets a new one.
    const next = viewOf(client);
    setLive(next);
    onError(null);
    follow(next, client).catch((reason: unknown) => {
      if (!next.closed.aborted) onError(errorOf(reason));
    });
    return () => {
      next.close();
    };
  }, [client, onError]);
  return live;
}

function viewOf(client: Client): LiveView {
  return new LiveView(client, client.surface === 'current' ? client : null);
}

async function follow(live: LiveView, client: Client): Promise<void> {
  // The legacy surface responds with 404 for a session that does not exist yet. What fails here fails again below, which
  // reports it, and continues once the service is reachable.
  if (client.surface === 'legacy') await client.create().catch(() => undefined);
  const events = live.follow();
  while ((await events.next()).done !== true);
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
