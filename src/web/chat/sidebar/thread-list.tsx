import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';
import { useObservable, useSelected } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Drafts } from '../conversation/drafts.js';
import { reasonOf } from '../conversation/user-words.js';
import { useThreads } from '../conversation/threads.js';
import type { View } from '../../../client/view/view.js';
import type { Settings } from '../settings.js';
import { groupsOf, matching, type ListedThread } from '../threads/groups.js';
import type { KeptThreads } from '../threads/kept-threads.js';
import type { Wallets } from '../wallet/wallets.js';
import { ForgetAll } from './forget-all.js';
import { ThreadItem } from './thread-item.js';

/** The threads of this browser, or of the wallet, by date, with a search. */
export function ThreadList(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly drafts: Drafts;
  readonly threads: KeptThreads;
  readonly wallets: Wallets;
  readonly onChange: (some: Partial<Settings>) => void;
  readonly onOpen: (sessionId: string) => void;
  /** Called when a thread was deleted or forgotten. */
  readonly onRemoved: () => void;
}): ReactNode {
  const { conversation, settings, drafts, threads, wallets, onChange, onOpen, onRemoved } = props;
  const { sessionId, wallet, walletUse, key, clientId } = settings;
  const { signIn } = wallets;
  const { keeper } = conversation;
  const kept = useObservable(threads);
  const [source, setSource] = useState<'wallet' | 'browser'>('wallet');
  const [query, setQuery] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const { doubts } = useObservable(signIn);
  const isUnproven = signIn.lacks(wallet);
  const requireSignIn = useCallback(
    (unproven: string) => {
      signIn.require(unproven);
    },
    [signIn],
  );
  // A finished turn may have created a thread or moved it up.
  const version = `${useSelected(conversation.view, versionOf)} ${String(doubts)}`;
  const bound = useThreads(conversation, isUnproven ? '' : wallet, version, requireSignIn);

  const isOfWallet = wallet !== '' && source === 'wallet';
  const list: readonly ListedThread[] = isOfWallet
    ? bound.list.map((thread) => ({ ...thread, at: threads.find(thread.sessionId)?.at ?? null }))
    : kept;
  const found = matching(list, query);
  const keptIds = new Set(kept.map((thread) => thread.sessionId));
  // A thread that is bound to the wallet already has it.
  const isBound = walletUse === 'ask' && bound.list.some((thread) => thread.sessionId === sessionId);
  useEffect(() => {
    if (isBound) onChange({ walletUse: 'own' });
  }, [isBound, onChange]);

  const change = async (made: Promise<void>, done: () => void): Promise<void> => {
    setProblem(null);
    try {
      await made;
      done();
    } catch (error) {
      setProblem(reasonOf(error));
    }
    bound.reload();
  };
  const leave = (): void => {
    onOpen(drafts.newThread(sessionId));
  };

  return (
    <section className="threads" aria-labelledby="threads-heading">
      <h2 id="threads-heading">Threads</h2>
      {wallet !== '' && <SourceSwitch value={source} onChoose={setSource} />}
      {(list.length > 1 || query !== '') && <Search value={query} onChange={setQuery} count={found.length} />}
      {(problem ?? bound.problem) !== null && (
        <p role="alert" className="problem">
          {problem ?? bound.problem}
        </p>
      )}
      <div className="thread-groups">
        {groupsOf(found, new Date()).map((group) => (
          <section key={group.heading} aria-label={group.heading}>
            <h3>{group.heading}</h3>
            <ul className="thread-list">
              {group.threads.map((thread) => (
                <ThreadItem
                  key={thread.sessionId}
                  thread={thread}
                  isOpen={thread.sessionId === sessionId}
                  canChange={keeper !== null}
                  isKept={keptIds.has(thread.sessionId)}
                  onOpen={() => {
                    onOpen(thread.sessionId);
                  }}
                  onRename={(title) =>
                    change(keeper?.rename(thread.sessionId, title) ?? Promise.resolve(), () => {
                      threads.rename(thread.sessionId, title);
                    })
                  }
                  onDelete={() =>
                    change(keeper?.delete(thread.sessionId) ?? Promise.resolve(), () => {
                      threads.forget(thread.sessionId);
                      if (thread.sessionId === sessionId) leave();
                      onRemoved();
                    })
                  }
                  onForget={() => {
                    threads.forget(thread.sessionId);
                    if (thread.sessionId === sessionId) leave();
                    onRemoved();
                  }}
                />
              ))}
            </ul>
          </section>
        ))}
        {isOfWallet && !isUnproven && list.length === 0 && bound.problem === null && (
          <p className="hint">No threads yet. The next message binds its thread to this wallet.</p>
        )}
        {!isOfWallet && list.length === 0 && (
          <p className="hint">Threads are kept in this browser, and listed here.</p>
        )}
      </div>
      {(kept.length > 0 || wallet !== '' || key !== '' || clientId !== '') && (
        <ForgetAll records={wallets.records} />
      )}
    </section>
  );
}

/** Changes whenever the list of threads may have changed on the service. */
function versionOf({ title, statedUsers, turn }: View): string {
  return `${title ?? ''} ${String(statedUsers)} ${String(turn === null)}`;
}

/** Selects whose threads are listed. */
function SourceSwitch(props: {
  readonly value: 'wallet' | 'browser';
  readonly onChoose: (source: 'wallet' | 'browser') => void;
}): ReactNode {
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">Threads of</legend>
      {(['wallet', 'browser'] as const).map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="threads-of"
            value={name}
            checked={name === props.value}
            onChange={() => {
              props.onChoose(name);
            }}
          />
          <span>{name === 'wallet' ? 'Wallet' : 'This browser'}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Search(props: {
  readonly value: string;
  readonly count: number;
  readonly onChange: (query: string) => void;
}): ReactNode {
  const { value, count, onChange } = props;
  return (
    <div className="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label="Search threads"
        dir="auto"
        placeholder="Search threads"
        value={value}
        maxLength={100}
        onChange={(event) => {
          onChange(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || value === '' || event.nativeEvent.isComposing) return;
          // Clears the search without also interrupting a reply.
          event.preventDefault();
          onChange('');
        }}
      />
      {value !== '' && (
        <p className="hint" role="status">
          {count === 0 ? 'No thread has these words in its title.' : `${String(count)} found`}
        </p>
      )}
    </div>
  );
}
