/** Messages to send as soon as their sessions are open, by session id: those of branches that this page created. */
const drafts = new Map<string, string>();

export function keepDraft(sessionId: string, text: string): void {
  drafts.set(sessionId, text);
}

/** Returns the message of a session once. */
export function takeDraft(sessionId: string): string | undefined {
  const text = drafts.get(sessionId);
  drafts.delete(sessionId);
  return text;
}
