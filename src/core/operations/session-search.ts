import type { Session } from '../model/session.js';
import type { Digests } from '../ports/digests.js';
import type { Store, ThreadCursor } from '../ports/store.js';

/** A page of sessions, latest activity first. */
export interface FoundSessions {
  readonly sessions: readonly Session[];
  /** Where the next page continues; null: this was the last one. */
  readonly next: ThreadCursor | null;
}

/** How many sessions one search reads, in batches. The next page continues after them. */
const MAX_READ = 5_000;
const BATCH = 200;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Finds sessions by what they are known by: the session's id or its start, its name in the log, a part of the title, the
 * wallet or its start, the App, or the id of the bound client. Does not read messages. Reads at most 5000 sessions, so a
 * page can be empty although there are more.
 */
export async function findSessions(
  query: string,
  options: {
    readonly store: Pick<Store, 'listSessions' | 'loadTail'>;
    readonly digests: Pick<Digests, 'sha256'>;
    readonly limit: number;
    readonly after: ThreadCursor | null;
  },
): Promise<FoundSessions> {
  const { store, digests, limit } = options;
  if (ID.test(query.toLowerCase())) {
    const tail = await store.loadTail(query.toLowerCase(), 0);
    if (typeof tail !== 'string') return { sessions: [tail.session], next: null };
  }
  const matches = matcherOf(query, digests);
  const sessions: Session[] = [];
  let next = options.after;
  for (let read = 0; read < MAX_READ; read += BATCH) {
    const batch: readonly Session[] = await store.listSessions({ limit: BATCH, after: next });
    for (const session of batch) {
      next = { activeAt: session.activeAt, id: session.id };
      if (matches(session)) sessions.push(session);
      if (sessions.length === limit) return { sessions, next };
    }
    if (batch.length < BATCH) return { sessions, next: null };
  }
  return { sessions, next };
}

function matcherOf(query: string, digests: Pick<Digests, 'sha256'>): (session: Session) => boolean {
  const lower = query.toLowerCase();
  const client = digests.sha256(query);
  const isMark = /^[0-9a-f]{8}$/.test(lower);
  return ({ id, title, wallet, app, client: bound }) =>
    id.startsWith(lower) ||
    title.toLowerCase().includes(lower) ||
    wallet?.toLowerCase().startsWith(lower) === true ||
    app === query ||
    bound === client ||
    (isMark && digests.sha256(id).startsWith(lower));
}
