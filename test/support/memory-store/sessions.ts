import { randomUUID } from 'node:crypto';
import {
  byOrder,
  failuresIn,
  shownCount,
  shownIn,
  textBytes,
  type Message,
} from '../../../src/core/model/message.js';
import type { Session } from '../../../src/core/model/session.js';
import type { SavedSession, SessionChange, ThreadCursor } from '../../../src/core/ports/store.js';
import { PAGE_CHARS } from '../../../src/core/ports/stored-thread.js';
import type {
  Branched,
  Branching,
  StoredTail,
  StoredThread,
  ThreadPart,
} from '../../../src/core/ports/stored-thread.js';
import { isOpen } from '../../../src/core/model/turn.js';
import { unshownFaults } from './faults.js';
import {
  bury,
  commit,
  ensureLive,
  findLive,
  queuedTurns,
  runningTurn,
  setFields,
  type KeptSession,
  type State,
} from './state.js';

/** See `Store`. */
export function loadThread(
  state: State,
  id: string,
  part?: ThreadPart,
): StoredThread | 'deleted' | 'unknown' {
  const kept = state.sessions.get(id);
  if (kept === undefined) return 'unknown';
  if (kept.deleted) return 'deleted';
  const running = runningTurn(kept);
  const ended = kept.turns
    .filter(({ turn }) => !isOpen(turn.status))
    .flatMap(({ messages }) => messages)
    .sort(byOrder);
  const open = [...(running === undefined ? [] : [running]), ...queuedTurns(kept)].map(
    ({ turn, messages, partialText, partialSince }) => ({ turn, messages, partialText, partialSince }),
  );
  const { settled, continues } = partOf(ended, part);
  const skipped = shownIn(ended) - shownIn(settled);
  const skippedFailures = failuresIn(ended) - failuresIn(settled);
  const faults = unshownFaults(kept);
  return { session: kept.session, settled, skipped, skippedFailures, continues, open, faults };
}

function partOf(ended: Message[], part: ThreadPart | undefined): { settled: Message[]; continues: boolean } {
  if (part !== undefined && 'newest' in part) {
    return { settled: ended.slice(Math.max(0, ended.length - part.newest)), continues: false };
  }
  const continues = part !== undefined && ended.some(({ id }) => id === part.after.id);
  return {
    settled: continues ? ended.filter(({ turnNo }) => turnNo > part.after.turnNo) : ended,
    continues,
  };
}

/** See `Store`. */
export function loadTail(state: State, id: string, count: number): StoredTail | 'deleted' | 'unknown' {
  const thread = loadThread(state, id);
  if (typeof thread === 'string') return thread;
  const showing = recordsOf(findLive(state, id)).filter((message) => shownCount(message) > 0);
  const messages: Message[] = [];
  for (const message of showing.toReversed()) {
    if (messages.reduce(addShown, 0) >= count) break;
    messages.unshift(message);
  }
  const open = thread.open.map(({ turn, partialText, partialSince }) => ({
    turn,
    partialText,
    partialSince,
  }));
  const { session, faults } = thread;
  const shown = showing.reduce(addShown, 0);
  return { session, messages, shown, failures: failuresIn(showing), open, faults };
}

function addShown(sum: number, message: Message): number {
  return sum + shownCount(message);
}

/** See `Store`. */
export function saveSession(state: State, change: SessionChange): SavedSession {
  const { ifVersion, at } = change;
  const live = findLive(state, change.id);
  if (live === undefined && change.ifMissing === 'refuse') return { kind: 'missing' };
  if (ifVersion !== undefined && ifVersion !== (live?.session.version ?? 0)) return { kind: 'stale' };
  const { kept, created } = ensureLive(state, change.id, at);
  const changed = setFields(kept, change.set) || created;
  const active = change.isActivity && at > kept.session.activeAt;
  if (!changed && !active && change.events.length === 0) {
    const { session } = kept;
    return { kind: 'saved', session, created, commit: { revision: session.revision, events: [] } };
  }
  kept.session = {
    ...kept.session,
    version: kept.session.version + (changed ? 1 : 0),
    activeAt: active ? at : kept.session.activeAt,
  };
  const committed = commit(kept, change.events, at);
  return { kind: 'saved', session: kept.session, created, commit: committed };
}

/** See `Store`. */
export function deleteSession(state: State, id: string): boolean {
  const kept = findLive(state, id);
  if (kept === undefined) return false;
  bury(state, kept);
  return true;
}

/** Sessions that `keep` takes, newest activity first, then by id, descending. */
export function listSessions(
  state: State,
  keep: (session: Session) => boolean,
  page: { readonly limit: number; readonly after: ThreadCursor | null },
): Session[] {
  const { limit, after } = page;
  return [...state.sessions.values()]
    .filter(({ deleted, session }) => !deleted && keep(session))
    .map(({ session }) => session)
    .filter((session) => after === null || newestFirst(after, session) < 0)
    .sort(newestFirst)
    .slice(0, limit);
}

function newestFirst(a: ThreadCursor, b: ThreadCursor): number {
  if (a.activeAt !== b.activeAt) return b.activeAt - a.activeAt;
  if (a.id === b.id) return 0;
  return a.id < b.id ? 1 : -1;
}

/** See `Store`. */
export function readMessages(
  state: State,
  id: string,
  page: { readonly limit: number; readonly before: string | null },
) {
  const all = recordsOf(findLive(state, id));
  const end = page.before === null ? all.length : all.findIndex((message) => message.id === page.before);
  if (end < 0) return 'unknown_message';
  let start = end;
  for (let size = 0; start > 0 && end - start < page.limit && size < PAGE_CHARS; start--) {
    const message = all[start - 1];
    if (message !== undefined) size += textBytes(message);
  }
  return { messages: all.slice(start, end), hasMore: start > 0 };
}

function recordsOf(kept: KeptSession | undefined) {
  return (kept?.turns ?? []).flatMap(({ messages }) => messages).sort(byOrder);
}

/** See `Store`. */
export function branchSession(state: State, asked: Branching): Branched {
  const source = findLive(state, asked.sourceId);
  if (source === undefined) return { kind: 'missing' };
  const { idempotency, at } = asked;
  const used = idempotency === null ? undefined : source.keys.get(idempotency.key);
  if (idempotency !== null && used !== undefined && used.createdAt >= idempotency.notBefore) {
    if (used.fingerprint !== idempotency.fingerprint) return { kind: 'key_reused' };
    return { kind: 'repeated', sessionId: used.turnId };
  }
  if (source.session.version !== asked.ifVersion) return { kind: 'stale' };
  const end = recordsOf(source).find(({ id }) => id === asked.before);
  if (end === undefined && asked.before !== null) return { kind: 'unknown_message' };
  if (source.turns.some(({ turn }) => turn.id === end?.turnId && isOpen(turn.status)))
    return { kind: 'open_turn' };
  const turns = source.turns
    .filter(({ turn }) => !isOpen(turn.status))
    .map((kept) => ({
      ...kept,
      messages: kept.messages.filter((message) => end === undefined || byOrder(message, end) < 0),
    }))
    .filter(({ messages }) => messages.length > 0);
  const copies = turns.flatMap(({ messages }) => messages);
  const bytes = copies.reduce((sum, message) => sum + textBytes(message), 0);
  if (bytes > asked.maxSessionBytes) return { kind: 'full', bytes };

  const { kept } = ensureLive(state, asked.id, at);
  setFields(kept, asked.set);
  kept.session = {
    ...kept.session,
    version: 1,
    interrupted: turns.at(-1)?.turn.status === 'interrupted',
  };
  kept.turns = turns.map(({ turn, messages, ...rest }) => {
    const id = randomUUID();
    return {
      ...rest,
      turn: { ...turn, id, sessionId: asked.id, clientId: null, keyId: null },
      messages: messages.map((message) => ({ ...message, id: randomUUID(), turnId: id })),
    };
  });
  commit(kept, [], at);
  if (idempotency !== null) {
    const { key, fingerprint } = idempotency;
    source.keys.set(key, { fingerprint, turnId: asked.id, createdAt: at });
  }
  return { kind: 'branched', session: kept.session, bytes };
}
