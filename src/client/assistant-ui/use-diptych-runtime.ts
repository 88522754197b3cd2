import type { AssistantRuntime } from '@assistant-ui/react';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Client, SendOptions } from '../types.js';
import { LiveView } from '../view/live-view.js';
import type { View } from '../view/view.js';
import { restore, useThreadRuntime } from './thread-runtime.js';

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
 * Connects assistant-ui to the session of a client: shows its messages, follows its turns, also those that other
 * clients started, sends messages and interrupts. The text of a message that could not be sent returns to the message
 * input.
 * @param client stays the same between renders; the caller closes it
 */
export function useDiptychRuntime(client: Client, options: RuntimeOptions = {}): DiptychRuntime {
  const { sendOptions } = options;
  const [problem, setProblem] = useState<Error | null>(null);
  const { live, failure, followAgain } = useLiveView(client);
  const view = useSyncExternalStore(live.subscribe, live.get, live.get);
  const input = useRef<AssistantRuntime | null>(null);
  useEffect(() => {
    setProblem(null);
  }, [client]);

  /** Returns false if the action failed. */
  const attempt = useCallback(
    async (action: () => Promise<void>): Promise<boolean> => {
      setProblem(null);
      try {
        await action();
      } catch (reason) {
        if (!live.closed.aborted) setProblem(errorOf(reason));
        return false;
      }
      if (failure !== null) followAgain();
      return true;
    },
    [live, failure, followAgain],
  );
  const send = useCallback(
    async (text: string) => {
      const isSent = await attempt(() =>
        live.send(text, (idempotencyKey) => client.send(text, { ...sendOptions?.(), idempotencyKey })),
      );
      // After a change of the client, the input is that of another session.
      if (!isSent && !live.closed.aborted && input.current !== null) restore(input.current, [text]);
    },
    [attempt, live, client, sendOptions],
  );
  const interrupt = useCallback(async () => {
    await attempt(() => live.interrupt());
  }, [attempt, live]);
  const runtime = useThreadRuntime(view, view.messages, { send, interrupt });
  input.current = runtime;
  const error = problem ?? failure;
  return useMemo(() => ({ runtime, view, error }), [runtime, view, error]);
}

/** A view of a session that is being followed. */
interface Following {
  readonly live: LiveView;
  /** Why the session cannot be followed; null while it can. */
  readonly failure: Error | null;
  /**
   * Follows the session again, in a new view: a session that was deleted and created again shares nothing with the old
   * one.
   */
  readonly followAgain: () => void;
}

/** Follows the client's session while the component is mounted. */
function useLiveView(client: Client): Following {
  const [live, setLive] = useState(() => viewOf(client));
  const [failure, setFailure] = useState<Error | null>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    // A view that was closed stays closed: a component that is mounted again gets a new one.
    const next = viewOf(client);
    setLive(next);
    setFailure(null);
    follow(next, client).catch((reason: unknown) => {
      if (!next.closed.aborted) setFailure(errorOf(reason));
    });
    return () => {
      next.close();
    };
  }, [client, attempts]);
  const followAgain = useCallback(() => {
    setAttempts((count) => count + 1);
  }, []);
  return { live, failure, followAgain };
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
