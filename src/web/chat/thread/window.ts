import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { View, ViewMessage } from '../../../client/view/view.js';

/** Number of messages shown at first, and added by each request for more. */
const STEP = 100;

/** The visible part of a long thread. */
export interface Shown {
  readonly messages: readonly ViewMessage[];
  /** The number of earlier messages that are hidden. */
  readonly earlier: number;
  readonly showEarlier: () => void;
}

/**
 * Selects the visible messages. The first one stays the same while messages are added, so that the view does not jump.
 * A printed thread has all of them.
 */
export function useWindow({ messages, isLoaded }: View): Shown {
  const [from, setFrom] = useState<number | null>(null);
  const atEnd = Math.max(messages.length - STEP, 0);
  useEffect(() => {
    if (isLoaded && from === null) setFrom(atEnd);
  }, [isLoaded, from, atEnd]);
  useEffect(() => {
    const showAll = (): void => {
      // The browser prints what is rendered when the event ends.
      flushSync(() => {
        setFrom(0);
      });
    };
    addEventListener('beforeprint', showAll);
    return () => {
      removeEventListener('beforeprint', showAll);
    };
  }, []);
  const earlier = Math.min(from ?? atEnd, messages.length);
  return {
    messages: earlier === 0 ? messages : messages.slice(earlier),
    earlier,
    showEarlier: () => {
      setFrom(Math.max(earlier - STEP, 0));
    },
  };
}
