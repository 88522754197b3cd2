import { useCallback, useEffect, useState } from 'react';
import type { ThreadSummary } from '../../../client/types.js';
import { ClientError } from '../../../client/error.js';
import type { Conversation } from './conversation.js';
import { reasonOf } from './user-words.js';

/** The threads of a wallet, if they can be listed. */
export interface Threads {
  readonly list: readonly ThreadSummary[];
  /** The reason why they cannot be listed; null if they can. */
  readonly problem: string | null;
  reload(): void;
}

/**
 * Reads the threads of a wallet, again whenever `version` changes.
 * @param onUnproven called when the service requires another proof of the wallet than it got
 */
export function useThreads(
  conversation: Conversation,
  wallet: string,
  version: string,
  onUnproven: (wallet: string) => void,
): Threads {
  const [list, setList] = useState<readonly ThreadSummary[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let isOver = false;
    if (wallet === '') {
      setList([]);
      setProblem(null);
      return;
    }
    (conversation.keeper ?? conversation.client).threads(wallet).then(
      (threads) => {
        if (isOver) return;
        setList(threads);
        setProblem(null);
      },
      (error: unknown) => {
        if (isOver) return;
        const isUnproven = error instanceof ClientError && (error.status === 401 || error.status === 403);
        setList([]);
        setProblem(isUnproven ? null : reasonOf(error));
        if (isUnproven) onUnproven(wallet);
      },
    );
    return () => {
      isOver = true;
    };
  }, [conversation, wallet, version, asked, onUnproven]);
  const reload = useCallback(() => {
    setAsked((count) => count + 1);
  }, []);
  return { list, problem, reload };
}
