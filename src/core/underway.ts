/** Writes of one kind that this process is storing, by session: other writes of a session wait for them, or are told that they are there. */
export class Underway {
  readonly #sessions = new Map<string, { count: number; readonly waiting: (() => void)[] }>();

  /** How many of a session there are. */
  count(sessionId: string): number {
    return this.#sessions.get(sessionId)?.count ?? 0;
  }

  /** Runs a write. Others of the session may run beside it. */
  async during<T>(sessionId: string, write: () => Promise<T>): Promise<T> {
    const session = this.#sessions.get(sessionId) ?? { count: 0, waiting: [] };
    session.count++;
    this.#sessions.set(sessionId, session);
    try {
      return await write();
    } finally {
      session.count--;
      if (session.count === 0) {
        this.#sessions.delete(sessionId);
        for (const go of session.waiting) go();
      }
    }
  }

  /** Resolves when a session has none. */
  async none(sessionId: string): Promise<void> {
    for (let session; (session = this.#sessions.get(sessionId)) !== undefined;) {
      const { waiting } = session;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
}

/** The two kinds that are not stored side by side: a title would change the session under a message, which then were read and asked anew. */
export interface SessionWrites {
  readonly messages: Underway;
  readonly titles: Underway;
}
