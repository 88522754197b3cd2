import { useCallback, useState, type ReactNode } from 'react';
import { randomId } from '../../../client/random-id.js';
import { useObservable } from '../../parts/observable.js';
import logo from '../../icon.svg';
import { Icon } from '../../parts/icon.js';
import { ThemeToggle } from '../../parts/theme.js';
import { reasonOf, type Conversation } from '../conversation/conversation.js';
import { Field } from './field.js';
import type { Settings } from '../settings.js';
import { Setup } from './setup.js';
import { ThreadItem } from './thread-item.js';
import { useThreads } from '../conversation/threads.js';
import { WalletPanel } from '../wallet/wallet-panel.js';
import type { Wallets } from '../wallet/wallets.js';

/** The threads of a wallet, and the assistant's settings. */
export function Sidebar(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly wallets: Wallets;
  readonly onChange: (some: Partial<Settings>) => void;
  readonly onOpen: () => void;
}): ReactNode {
  const { conversation, settings, wallets, onChange, onOpen } = props;
  const { signIn } = wallets;
  const { sessionId, wallet } = settings;
  const view = useObservable(conversation.view);
  const [problem, setProblem] = useState<string | null>(null);
  // A finished turn may have created a thread or moved it up.
  const version = `${view.title ?? ''} ${String(view.statedUsers)} ${String(view.turn === null)}`;
  useObservable(signIn);
  const isUnproven = signIn.lacks(wallet);
  const requireSignIn = useCallback(() => {
    signIn.require();
  }, [signIn]);
  const threads = useThreads(conversation, isUnproven ? '' : wallet, version, requireSignIn);
  const { keeper } = conversation;

  const open = (id: string): void => {
    onChange({ sessionId: id });
    onOpen();
  };
  const change = async (made: Promise<void>): Promise<void> => {
    setProblem(null);
    try {
      await made;
    } catch (error) {
      setProblem(reasonOf(error));
    }
    threads.reload();
  };

  return (
    <>
      <div className="brand">
        <img src={logo} alt="" width="24" height="24" />
        <strong>Diptych</strong>
        <ThemeToggle />
      </div>
      <button
        type="button"
        className="button primary wide"
        onClick={() => {
          open(randomId());
        }}
      >
        <Icon name="plus" />
        New thread
      </button>
      <section className="threads" aria-labelledby="threads-heading">
        <h2 id="threads-heading">Threads</h2>
        <WalletPanel {...{ wallets, conversation }} />
        <Field
          label="Wallet address"
          value={wallet}
          placeholder="0x…"
          onCommit={(value) => {
            onChange({ wallet: value });
          }}
        />
        {wallet === '' && (
          <p className="hint">
            With a wallet address, threads are listed here and found again on any device.
          </p>
        )}
        {(problem ?? threads.problem) !== null && (
          <p role="alert" className="problem">
            {problem ?? threads.problem}
          </p>
        )}
        {threads.list.length > 0 && (
          <ul className="thread-list">
            {threads.list.map((thread) => (
              <ThreadItem
                key={thread.sessionId}
                thread={thread}
                isOpen={thread.sessionId === sessionId}
                canChange={keeper !== null}
                onOpen={() => {
                  open(thread.sessionId);
                }}
                onRename={(title) => change(keeper?.rename(thread.sessionId, title) ?? Promise.resolve())}
                onDelete={async () => {
                  await change(keeper?.delete(thread.sessionId) ?? Promise.resolve());
                  if (thread.sessionId === sessionId) onChange({ sessionId: randomId() });
                }}
              />
            ))}
          </ul>
        )}
        {wallet !== '' && !isUnproven && threads.list.length === 0 && threads.problem === null && (
          <p className="hint">No threads yet. The next message binds its thread to this wallet.</p>
        )}
      </section>
      <Setup conversation={conversation} settings={settings} onChange={onChange} />
    </>
  );
}
