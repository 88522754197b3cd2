import { AssistantRuntimeProvider, ThreadPrimitive } from '@assistant-ui/react';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { ClientError } from '../../../client/error.js';
import { randomId } from '../../../client/random-id.js';
import { useObservable } from '../../parts/observable.js';
import { ActionsProvider, useMessageActions } from './actions.js';
import { Announcer } from './announcer.js';
import { Composer } from './composer.js';
import { reasonOf, type Conversation } from '../conversation/conversation.js';
import { keepDraft, keepUnsent, takeDraft, takeUnsent, unsent } from '../conversation/drafts.js';
import { Problems } from './problems.js';
import { restore, useThreadRuntime } from '../../../client/assistant-ui/thread-runtime.js';
import { Thread } from './thread.js';
import { isBusy } from '../../../client/view/view.js';
import { useWindow } from './window.js';
import { PendingList } from '../wallet/requests/pending-list.js';
import type { ThreadWallet } from '../wallet/requests/request-card.js';
import { useReportedOutcomes, useWalletReports } from '../wallet/wallet-reports.js';
import type { Wallets } from '../wallet/wallets.js';

/** A conversation: its thread and the message input. */
export function Pane(props: {
  readonly conversation: Conversation;
  readonly wallets: Wallets;
  readonly wallet: string;
  readonly threadWallet: ThreadWallet;
  /** Prompts to begin with. */
  readonly prompts: readonly string[];
  /** Opens another session: a branch, or the thread that follows a deleted one. */
  readonly onOpen: (sessionId: string) => void;
}): ReactNode {
  const { conversation, wallets, wallet, threadWallet, prompts, onOpen } = props;
  const usesWallet = threadWallet.walletUse === 'own';
  const view = useObservable(conversation.view);
  const failure = useObservable(conversation.failure);
  const [problem, setProblem] = useState<{ readonly error: unknown } | null>(null);
  const unsentTexts = useObservable(unsent);
  const { sessionId } = conversation.client;

  const { signIn, desk } = wallets;
  const reportWallet = useWalletReports(conversation, wallets, usesWallet);
  useReportedOutcomes(conversation, wallets);
  const opens = useRef(onOpen);
  opens.current = onOpen;
  /** Opens another session, whose pane sends the text. */
  const sendIn = useCallback((otherId: string, text: string) => {
    keepDraft(otherId, text);
    opens.current(otherId);
  }, []);
  const send = useCallback(
    async (text: string) => {
      setProblem(null);
      if (conversation.isGone.get()) {
        // The service would create the deleted session again, empty, under the messages that are still shown.
        sendIn(randomId(), text);
        return;
      }
      try {
        // A wallet without the proof that the service requires would be refused.
        await conversation.send(text, usesWallet && !signIn.lacks(wallet) ? wallet : '', reportWallet);
      } catch (error) {
        setProblem({ error });
        keepUnsent(sessionId, text);
      }
    },
    [conversation, sendIn, sessionId, signIn, reportWallet, wallet, usesWallet],
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
  const actions = useMessageActions(conversation, { send, sendIn, fail });
  useEffect(() => {
    const draft = takeDraft(sessionId);
    if (draft !== undefined) void send(draft);
  }, [sessionId, send]);
  const shown = useWindow(view);
  // The library scrolls and composes: it needs to know that there are messages, and whether a reply is running.
  const runtime = useThreadRuntime(view, view.messages.slice(-1), { send, interrupt });

  // What was not sent can be changed and sent again.
  useEffect(() => {
    restore(runtime, takeUnsent(sessionId));
  }, [unsentTexts, runtime, sessionId]);
  // Another thread has another input: what is being written in this one is kept for when it is opened again.
  useEffect(
    () => () => {
      keepUnsent(sessionId, runtime.thread.composer.getState().text);
    },
    [runtime, sessionId],
  );

  const busy = isBusy(view);
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
            prompts={prompts}
            requests={<PendingList messages={view.messages} {...{ conversation, wallets, threadWallet }} />}
          />
        </ActionsProvider>
        <Problems
          problem={problem === null ? failure : reasonOf(problem.error)}
          notices={view.notices}
          onDismiss={() => {
            setProblem(null);
            conversation.dismissNotices();
          }}
        />
        <Composer isBusy={busy} onInterrupt={() => void interrupt()} />
        <Announcer view={view} />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

/** True for the error of a request that has not reached the service. */
function isOutage(error: unknown): boolean {
  return error instanceof ClientError && error.kind === 'unreachable';
}

/** True for the refusal of a proof of the wallet or of an App key. */
function isUnauthenticated(error: unknown): boolean {
  return error instanceof ClientError && error.status === 401;
}
