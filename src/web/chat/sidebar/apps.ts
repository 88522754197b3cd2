import { useEffect, useState } from 'react';
import type { AppDetails } from '../../../client/types.js';
import { useObservable } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import { reasonOf } from '../conversation/user-words.js';

/** A list that the service provides. */
export interface Listed<T> {
  readonly list: readonly T[];
  /** The reason why it cannot be read; null if it can. */
  readonly problem: string | null;
}

/** Reads the Apps that the key covers, once per conversation. */
export function useApps(conversation: Conversation): Listed<AppDetails> {
  return useList(conversation, readApps);
}

/**
 * Reads a list once per conversation, and after a failure again when the service can be reached.
 * @param read must stay the same function
 */
export function useList<T>(
  conversation: Conversation,
  read: (conversation: Conversation) => Promise<readonly T[]>,
): Listed<T> {
  const [listed, setListed] = useState<Listed<T>>({ list: [], problem: null });
  const [attempt, setAttempt] = useState(0);
  const { connection } = useObservable(conversation.view);
  const hasFailed = listed.problem !== null;
  useEffect(() => {
    if (connection === 'open' && hasFailed) setAttempt((before) => before + 1);
    // Only a change of the connection is a reason to read again.
  }, [connection]);
  useEffect(() => {
    let isOver = false;
    const show = (next: Listed<T>): void => {
      if (!isOver) setListed(next);
    };
    read(conversation).then(
      (list) => {
        show({ list, problem: null });
      },
      (error: unknown) => {
        show({ list: [], problem: reasonOf(error) });
      },
    );
    return () => {
      isOver = true;
    };
  }, [conversation, read, attempt]);
  return listed;
}

/** The legacy surface lists neither secret slots nor prompts. */
function readApps({ keeper, client }: Conversation): Promise<readonly AppDetails[]> {
  return (keeper ?? client).appDetails();
}
