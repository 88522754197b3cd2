import { useEffect, useRef } from 'react';
import { objectsIn, textOf } from '../../../client/json.js';
import type { JsonObject } from '../../../client/types.js';
import { useObservable } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import type { View } from '../../../client/view/view.js';
import type { KeptThreads, WalletUse } from './kept-threads.js';

/** The title of a session until it gets one. */
const PLACEHOLDER = 'New Chat';
/** Maximum length of a message in place of a title, in characters. */
const FIRST_WORDS = 60;

/** Keeps the open thread in this browser once the service has a message of it, and follows its title and its time. */
export function useKept(conversation: Conversation, threads: KeptThreads, walletUse: WalletUse): void {
  const view = useObservable(conversation.view);
  const { sessionId } = conversation.client;
  const kept = useRef<string | null>(null);
  const openedAt = useRef(0);
  const isStored = view.isLoaded && (view.statedUsers > 0 || (view.turn?.id ?? null) !== null);
  const isRunning = view.turn !== null;
  const title = titleOf(view);
  useEffect(() => {
    if (!isStored) return;
    // A thread that another tab has forgotten stays forgotten.
    if (kept.current === sessionId && threads.find(sessionId) === undefined) return;
    if (kept.current !== sessionId) openedAt.current = Date.now();
    kept.current = sessionId;
    const at = isRunning ? Date.now() : (lastTime(view.raw) ?? Date.now());
    threads.keep({ sessionId, title, at, openedAt: openedAt.current, walletUse });
  }, [threads, sessionId, isStored, isRunning, title, view.raw, walletUse]);
}

/** Calls `onGone` when the thread is not on the service, or not any more. */
export function useGone(
  conversation: Conversation,
  threads: KeptThreads,
  onGone: (gone: { readonly title: string | null; readonly isShown: boolean }) => void,
): void {
  const view = useObservable(conversation.view);
  const isDeleted = useObservable(conversation.isGone);
  const { sessionId } = conversation.client;
  const wasKept = useRef<{ readonly sessionId: string; readonly title: string | null } | null>(null);
  if (wasKept.current?.sessionId !== sessionId)
    wasKept.current = { sessionId, title: threads.find(sessionId)?.title ?? null };
  const { title } = wasKept.current;
  const isEmpty = view.messages.length === 0 && view.queued.length === 0;
  // The service creates an unknown session: a kept thread that is empty has expired.
  const isExpired = title !== null && view.isLoaded && view.statedUsers === 0 && isEmpty;
  const isGone = isDeleted || isExpired;
  useEffect(() => {
    if (isGone) onGone({ title, isShown: !isEmpty });
    // `onGone` is called once per thread.
  }, [isGone, sessionId]);
}

/** Returns the title, or the first words of the user until there is one. */
export function titleOf({ title, messages }: View): string {
  if (title !== null && title !== '' && title !== PLACEHOLDER) return title;
  const first = messages.find(({ role }) => role === 'user')?.blocks[0];
  const words = first?.kind === 'text' ? first.text.replaceAll(/\s+/g, ' ').trim() : '';
  return words === '' ? PLACEHOLDER : words.slice(0, FIRST_WORDS);
}

/** Returns the time of the last message of a state. */
function lastTime(raw: JsonObject | null): number | undefined {
  const last = objectsIn(raw?.messages).at(-1);
  const time = last === undefined ? NaN : Date.parse(textOf(last, 'timestamp'));
  return Number.isNaN(time) ? undefined : time;
}
