import { useEffect, useState } from 'react';
import type { View, ViewMessage } from '../conversation/view.js';

/** So many messages are shown at first, and with each wish for more. */
const STEP = 100;

/** The end of a long thread, and its earlier messages as they are wished for. */
export interface Shown {
  readonly messages: readonly ViewMessage[];
  /** How many are before these. */
  readonly earlier: number;
  readonly showEarlier: () => void;
}

/** What of a thread is shown: from a beginning that stays while messages are added, so that nothing moves. */
export function useWindow({ messages, isLoaded }: View): Shown {
  const [from, setFrom] = useState<number | null>(null);
  const atEnd = Math.max(messages.length - STEP, 0);
  useEffect(() => {
    if (isLoaded && from === null) setFrom(atEnd);
  }, [isLoaded, from, atEnd]);
  const earlier = Math.min(from ?? atEnd, messages.length);
  return {
    messages: earlier === 0 ? messages : messages.slice(earlier),
    earlier,
    showEarlier: () => {
      setFrom(Math.max(earlier - STEP, 0));
    },
  };
}
