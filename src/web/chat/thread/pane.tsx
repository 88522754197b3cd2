import { AssistantRuntimeProvider, ThreadPrimitive, type AssistantRuntime } from '@assistant-ui/react';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { ClientError } from '../../../client/error.js';
import { randomId } from '../../../client/random-id.js';
import { textOf } from '../../../client/view/history.js';
import { useObservable } from '../../parts/observable.js';
import { ActionsProvider, useMessageActions } from './actions.js';
import { Announcer } from './announcer.js';
import { Composer } from './composer.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Drafts } from '../conversation/drafts.js';
import { reasonOf } from '../conversation/user-words.js';
import { Problems } from './problems.js';
import { Resend } from './resend.js';
import { useThreadRuntime } from '../../../client/assistant-ui/thread-runtime.js';
import { Thread } from './thread.js';
import { isBusy, type View } from '../../../client/view/view.js';
import { useWindow } from './window.js';
import { PendingList } from '../wallet/requests/pending-list.js';
import type { ThreadWallet } from '../wallet/requests/request-card.js';
import { useReportedOutcomes, useWalletReports } from '../wallet/wallet-reports.js';
import type { Wallets } from '../wallet/wallets.js';

/** A conversation: its thread and the message input. */
export function Pane(props: {
  readonly conversation: Conversation;
  readonly drafts: Drafts;
  readonly wallets: Wallets;
  readonly wallet: string;
  readonly threadWallet: ThreadWallet;
  /** Prompts to begin with. */
  readonly prompts: readonly string[];
  /** Opens another session: a branch, or the thread that follows a deleted one. */
  readonly onOpen: (sessionId: string) => void;
}): ReactNode {
  const { conversation, drafts, wallets, wallet, threadWallet, prompts, onOpen } = props;
  const usesWallet = threadWallet.walletUse === 'own';
  const view = useObservable(conversation.view);
  const failure = useObservable(conversation.failure);
  const resendAt = useObservable(conversation.resendAt);
  const [problem, setProblem] = useState<{ readonly error: unknown } | null>(null);
  const { sessionId } = conversation.client;

  const { signIn, desk } = wallets;
  const reportWallet = useWalletReports(conversation, wallets, usesWallet);
  useReportedOutcomes(conversation, wallets);
  const opens = useRef(onOpen);
  opens.current = onOpen;
  /** Opens another session, whose pane sends the text. */
  const sendIn = useCallback(
    (otherId: string, text: string) => {
      drafts.handOver(otherId, text);
      opens.current(otherId);
    },
    [drafts],
  );
  const send = useCallback(
    async (text: string) => {
      setProblem(null);
      if (conversation.isGone.get()) {
        // The service would create the deleted session again, empty, under the messages that are still shown.
        sendIn(randomId(), text);
        return;
      }
      // The service would refuse a wallet that lacks the required proof.
      const used = usesWallet && !signIn.lacks(wallet) ? wallet : '';
      try {
        const { newest } = conversation.view;
        const after = newest.isLoaded ? textsOfUsers(newest).length : null;
        await drafts.send(sessionId, { text, after }, () => conversation.send(text, used, reportWallet));
      } catch (error) {
        setProblem({ error });
      }
    },
    [conversation, drafts, sendIn, sessionId, signIn, reportWallet, wallet, usesWallet],
  );
  const interrupt = useCallback(async () => {
    try {
      await conversation.interrupt();
    } catch (error) {
      setProblem({ error });
    }
  }, [conversation]);
  const fail = useCallback((error: unknown) => {
    setProblem({ error });
  }, []);
  useEffect(() => {
    if (view.connection !== 'open') return;
    setProblem((before) => (isOutage(before?.error) ? null : before));
    desk.forgetOutages();
  }, [view.connection, desk]);
  useEffect(() => {
    if (isUnauthenticated(problem?.error)) signIn.doubt();
  }, [problem, signIn]);
  const actions = useMessageActions(conversation, drafts, { send, sendIn, fail });
  useEffect(() => {
    const text = drafts.takeHandedOver(sessionId);
    if (text !== undefined) void send(text);
  }, [drafts, sessionId, send]);
  const shown = useWindow(view);
  // The library scrolls and composes: it needs to know that there are messages, and whether a reply is running.
  const runtime = useThreadRuntime(view, view.messages.slice(-1), { send, interrupt });
  useDraft(runtime, drafts, sessionId);
  const isSettled = view.isLoaded || failure !== null;
  useEffect(() => {
    if (!isSettled) return;
    drafts.recover(sessionId, textsOfUsers(conversation.view.newest));
  }, [isSettled, conversation, drafts, sessionId]);

  const busy = isBusy(view);
  // The turn of a message that the service has not accepted has no id.
  const isDeferred = resendAt !== null && (view.turn?.id ?? null) === null;
  useEffect(() => {
    if (!busy) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !event.isComposing) void interrupt();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
    };
  }, [busy, interrupt]);

  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root className="pane">
        <ActionsProvider value={actions}>
          <Thread
            view={view}
            shown={shown}
            isAnswering={busy && !isDeferred}
            prompts={prompts}
            requests={<PendingList messages={view.messages} {...{ conversation, wallets, threadWallet }} />}
          />
        </ActionsProvider>
        {resendAt !== null && <Resend key={resendAt} at={resendAt} />}
        {resendAt === null && view.connection === 'lost' && drafts.isSending(sessionId) && (
          <div className="problems">
            <p role="status">Not sent yet: the service is unreachable. The page retries automatically.</p>
          </div>
        )}
        <Problems
          problem={problem === null ? failure : reasonOf(problem.error)}
          notices={view.notices}
          onDismiss={() => {
            setProblem(null);
            conversation.dismissNotices();
          }}
        />
        <Composer isBusy={busy} onInterrupt={() => void interrupt()} />
        <Announcer view={view} isDeferred={isDeferred} />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

/** Fills the message input with the session's draft, also when a message is restored to it, and stores changes. */
function useDraft(runtime: AssistantRuntime, drafts: Drafts, sessionId: string): void {
  useEffect(() => {
    const { composer } = runtime.thread;
    const fill = (): void => {
      composer.setText(drafts.textOf(sessionId));
    };
    fill();
    const stops = [
      drafts.restored.subscribe(fill),
      composer.subscribe(() => {
        drafts.write(sessionId, composer.getState().text);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [runtime, drafts, sessionId]);
}

/** Returns the texts of the user messages, oldest first, queued ones included. */
function textsOfUsers({ messages, queued }: View): readonly string[] {
  return [...messages.filter(({ role }) => role === 'user').map(textOf), ...queued];
}

/** True for the error of a request that has not reached the service. */
function isOutage(error: unknown): boolean {
  return error instanceof ClientError && error.kind === 'unreachable';
}

/** True for the refusal of a proof of the wallet or of an App key. */
function isUnauthenticated(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401;
}
