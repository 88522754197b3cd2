import { Observable } from '../../parts/observable.js';

/** Messages to send as soon as their sessions are open, by session id: those of branches that this page created. */
const drafts = new Map<string, string>();

/** Texts that were not sent, oldest first, by session id: refused messages, and what was being written. */
export const unsent = new Observable<ReadonlyMap<string, readonly string[]>>(new Map());

export function keepDraft(sessionId: string, text: string): void {
  drafts.set(sessionId, text);
}

/** Returns the message of a session once. */
export function takeDraft(sessionId: string): string | undefined {
  const text = drafts.get(sessionId);
  drafts.delete(sessionId);
  return text;
}

export function keepUnsent(sessionId: string, text: string): void {
  if (text === '') return;
  const texts = unsent.get().get(sessionId) ?? [];
  unsent.set(new Map([...unsent.get(), [sessionId, [...texts, text]]]));
}

/** Returns the texts of a session that were not sent, once. */
export function takeUnsent(sessionId: string): readonly string[] {
  const texts = unsent.get().get(sessionId);
  if (texts === undefined) return [];
  unsent.set(new Map([...unsent.get()].filter(([id]) => id !== sessionId)));
  return texts;
}
