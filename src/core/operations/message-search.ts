import type { Message } from '../model/message.js';
import type { Session } from '../model/session.js';
import { pause, type Clock } from '../ports/clock.js';
import type { Store, ThreadCursor } from '../ports/store.js';

/** A session with a message that has the text. */
export interface FoundText {
  readonly session: Session;
  /** The newest such message. */
  readonly message: Message;
  /** A part of the message around the text, in one line. */
  readonly excerpt: string;
}

/** A page of sessions, latest activity first. */
export interface FoundTexts {
  readonly found: readonly FoundText[];
  /** Where the next page continues; null: all sessions were searched. */
  readonly next: ThreadCursor | null;
}

/** How many sessions, and for how long in milliseconds, one search reads. The next page continues after them. */
const MAX_READ = 1_000;
const MAX_MS = 2_000;
/** How many of the last messages of a session are searched. */
const MESSAGES = 500;
/** How many sessions are listed at once. */
const BATCH = 8;
/** How many characters of messages are read before other work gets a turn. */
const CHARACTERS = 262_144;
/** The characters of an excerpt before and after the start of the text. */
const BEFORE = 40;
const AFTER = 160;

/**
 * Finds sessions by the text of their messages, whatever its case. Searches the last 500 messages of each session, and
 * at most 1000 sessions or for two seconds, so a page can be empty although there are more.
 */
export async function findTexts(
  text: string,
  options: {
    readonly store: Pick<Store, 'listSessions' | 'readMessages'>;
    readonly clock: Clock;
    readonly limit: number;
    readonly after: ThreadCursor | null;
  },
): Promise<FoundTexts> {
  const { store, clock, limit } = options;
  const until = clock.monotonic() + MAX_MS;
  const lower = text.toLowerCase();
  const found: FoundText[] = [];
  let next = options.after;
  let characters = 0;
  for (let read = 0; read < MAX_READ; read += BATCH) {
    const batch = await store.listSessions({ limit: BATCH, after: next });
    for (const session of batch) {
      const { message, characters: size } = await newestWith(lower, session.id, { store, clock });
      next = { activeAt: session.activeAt, id: session.id };
      if (message !== undefined) found.push({ session, message, excerpt: excerptOf(message.content, lower) });
      if (found.length === limit || clock.monotonic() >= until) return { found, next };
      characters += size;
      if (characters < CHARACTERS) continue;
      characters = 0;
      await pause(clock, 0);
    }
    if (batch.length < BATCH) return { found, next: null };
    await pause(clock, 0);
  }
  return { found, next };
}

/** Finds the newest of the last 500 messages of a session that has the text. `characters`: how many were read. */
async function newestWith(
  lower: string,
  sessionId: string,
  { store, clock }: { readonly store: Pick<Store, 'readMessages'>; readonly clock: Clock },
): Promise<{ readonly message: Message | undefined; readonly characters: number }> {
  let characters = 0;
  let before: string | null = null;
  for (let left = MESSAGES; ;) {
    const page = await store.readMessages(sessionId, { limit: left, before });
    if (page === 'unknown_message') return { message: undefined, characters };
    const { messages, hasMore } = page;
    const message = messages.findLast(({ content }) => content.toLowerCase().includes(lower));
    characters += messages.reduce((sum, { content }) => sum + content.length, 0);
    left -= messages.length;
    before = messages[0]?.id ?? null;
    if (message !== undefined || !hasMore || left === 0 || before === null) return { message, characters };
    await pause(clock, 0);
  }
}

function excerptOf(content: string, lower: string): string {
  const at = Math.max(0, content.toLowerCase().indexOf(lower));
  const from = Math.max(0, at - BEFORE);
  const part = content
    .slice(from, at + AFTER)
    .replace(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '…' : ''}${part}${at + AFTER < content.length ? '…' : ''}`.toWellFormed();
}
