import type { OpenCall } from '../../../src/core/ports/call-store.js';
import type { EventBody, LoggedEvent, SystemEvent, Commit } from '../../../src/core/model/event.js';
import { byOrder, type Message } from '../../../src/core/model/message.js';
import { newSession, type Session, type SessionFields } from '../../../src/core/model/session.js';
import type { ActivityRow, FailureRow, WorkRow } from '../../../src/core/ports/overview-store.js';
import type { UsageRow } from '../../../src/core/ports/usage-store.js';
import type { Quota, Use } from '../../../src/core/model/quota.js';
import type { SealedSecret } from '../../../src/core/ports/secret-store.js';
import type { StoredKey } from '../../../src/core/ports/store.js';
import type { Lease, ClaimedTurn, Turn, TurnSummary, Usage } from '../../../src/core/model/turn.js';
import type { WalletRequest } from '../../../src/core/model/wallet-request.js';

/** A turn as it is kept. */
export interface KeptTurn {
  turn: Turn;
  messages: readonly Message[];
  owner: string | null;
  attempt: number;
  losses: number;
  leaseUntil: number;
  cancelRequested: boolean;
  partialText: string;
  /** When its first character was shown; 0: not known. */
  partialSince: number;
  /** The attempt that stored it. */
  partialAttempt: number;
  /** The tokens of its attempts. */
  usage: Usage;
  /** How it ended; null: it has not. */
  ended: Pick<TurnSummary, 'rig' | 'endedAt'> | null;
}

/** A call of a tool as it is kept. */
export interface KeptCall extends OpenCall {
  readonly owner: string;
  leaseUntil: number;
}

/** A notice as it is kept. */
export interface KeptNotice {
  readonly owner: string;
  readonly until: number;
  readonly deliveredAt: number | null;
}

/** A session as it is kept, or, with `deleted`, what is left of it: its counters. */
export interface KeptSession {
  session: Session;
  deleted: boolean;
  turns: KeptTurn[];
  events: LoggedEvent[];
  systemEvents: (SystemEvent & { readonly n: number; readonly at: number })[];
  lastSystemNo: number;
  faultsShown: number;
  /** In order of their ids. */
  requests: WalletRequest[];
  lastWalletNo: number;
  /** Who has the faults above, and until when. */
  faultsClaim: { readonly owner: string; readonly until: number } | null;
  readonly keys: Map<
    string,
    { readonly fingerprint: string; readonly turnId: string; readonly createdAt: number }
  >;
}

/** Everything that the store knows. Values inside are replaced, never changed, so that they can be handed out. */
export interface State {
  readonly sessions: Map<string, KeptSession>;
  readonly keys: Map<string, StoredKey>;
  /** Calls of tools outside turns, by their ids. */
  readonly calls: Map<string, KeptCall>;
  /** By subject, measure and window. */
  readonly uses: Map<string, Use>;
  /** By everything that is not counted. */
  readonly usage: Map<string, UsageRow>;
  readonly activity: Map<string, ActivityRow>;
  readonly failures: Map<string, FailureRow>;
  readonly work: Map<string, WorkRow>;
  readonly notices: Map<string, KeptNotice>;
  /** Transactions that wallets were asked for in sessions that have been deleted since. */
  pastTransactions: readonly WalletRequest[];
  readonly secrets: Map<
    string,
    SealedSecret & { readonly client: string; readonly createdAt: number; readonly usedAt: number }
  >;
}

export function emptyState(): State {
  return {
    sessions: new Map(),
    keys: new Map(),
    secrets: new Map(),
    calls: new Map(),
    uses: new Map(),
    usage: new Map(),
    ...{ activity: new Map(), failures: new Map(), work: new Map(), notices: new Map() },
    pastTransactions: [],
  };
}

/** The session unless it was deleted. */
export function findLive(state: State, id: string): KeptSession | undefined {
  const kept = state.sessions.get(id);
  return kept?.deleted === false ? kept : undefined;
}

/** The session, made or brought back empty when there is none. */
export function ensureLive(state: State, id: string, at: number): { kept: KeptSession; created: boolean } {
  const found = state.sessions.get(id);
  if (found?.deleted === false) return { kept: found, created: false };
  const fresh = newSession(id, at);
  if (found !== undefined) {
    const { lastEventId, revision, version } = found.session;
    found.session = { ...fresh, lastEventId, revision, version };
    found.deleted = false;
    return { kept: found, created: true };
  }
  const kept: KeptSession = {
    session: fresh,
    deleted: false,
    turns: [],
    events: [],
    systemEvents: [],
    lastSystemNo: 0,
    faultsShown: 0,
    requests: [],
    lastWalletNo: 0,
    faultsClaim: null,
    keys: new Map(),
  };
  state.sessions.set(id, kept);
  return { kept, created: true };
}

/** Leaves nothing of a session but its counters, and the transactions that its wallets were asked for. */
export function bury(state: State, kept: KeptSession): void {
  for (const [id, { sessionId }] of state.calls) if (sessionId === kept.session.id) state.calls.delete(id);
  const asked = kept.requests.filter(
    ({ payload, requestedAt, state: outcome }) =>
      payload.kind === 'transaction' && requestedAt !== null && outcome !== 'rejected',
  );
  state.pastTransactions = [...state.pastTransactions, ...asked];
  for (const [key, row] of state.failures)
    if (row.sessionId === kept.session.id) state.failures.set(key, { ...row, sessionId: null });
  kept.deleted = true;
  kept.turns = [];
  kept.events = [];
  kept.systemEvents = [];
  kept.requests = [];
  kept.faultsClaim = null;
  kept.keys.clear();
}

/** Sets fields. True when one of them really changed. */
export function setFields(kept: KeptSession, set: SessionFields): boolean {
  const next = { ...kept.session, ...set };
  const changed = shown(next) !== shown(kept.session);
  if (changed) kept.session = next;
  return changed;
}

function shown({ title, titleSource, wallet, rig, client, app, userState, archived }: Session): string {
  return JSON.stringify([title, titleSource, wallet, rig, client, app, userState, archived]);
}

/** Logs events, counts a change of the session, and says what came of it. */
export function commit(kept: KeptSession, events: readonly EventBody[], at: number): Commit {
  const first = kept.session.lastEventId + 1;
  const logged = events.map((body, index) => ({ id: first + index, at, body }));
  kept.events.push(...logged);
  for (const body of events) {
    if (body.type === 'system_notice') addSystemEvent(kept, 'SystemNotice', body.message, at);
  }
  kept.session = {
    ...kept.session,
    lastEventId: kept.session.lastEventId + events.length,
    revision: kept.session.revision + 1,
  };
  return { revision: kept.session.revision, events: logged };
}

/** Adds an entry to the system events of a session. */
export function addSystemEvent(kept: KeptSession, kind: SystemEvent['kind'], text: string, at: number): void {
  kept.lastSystemNo += 1;
  kept.systemEvents.push({ n: kept.lastSystemNo, kind, text, at });
}

/** The turn of a session that somebody works on, or worked on. */
export function runningTurn(kept: KeptSession): KeptTurn | undefined {
  return kept.turns.find(({ turn }) => turn.status === 'running');
}

/** Those that wait, in their order. */
export function queuedTurns(kept: KeptSession): KeptTurn[] {
  return kept.turns.filter(({ turn }) => turn.status === 'queued');
}

/** Gives a turn to an owner. */
export function claim(kept: KeptTurn, lease: Lease): ClaimedTurn {
  kept.turn = { ...kept.turn, status: 'running' };
  kept.owner = lease.owner;
  kept.attempt += 1;
  kept.leaseUntil = Date.now() + lease.milliseconds;
  const { attempt, losses, cancelRequested, partialText, partialSince } = kept;
  return {
    ...kept.turn,
    status: 'running',
    owner: lease.owner,
    attempt,
    losses,
    cancelRequested,
    partialText,
    partialSince,
  };
}

/**
 * The records of a turn with others added, or put in the place of those with the same id.
 * @throws Error when two records would have one position, or one is another turn's
 */
export function mergeRecords(
  session: KeptSession,
  kept: KeptTurn,
  added: readonly Message[],
): readonly Message[] {
  const others = session.turns.filter((other) => other !== kept).flatMap(({ messages }) => messages);
  const taken = new Set(others.map(({ id }) => id));
  const stolen = added.find(({ id }) => taken.has(id));
  if (stolen !== undefined) throw new Error(`message ${stolen.id} belongs to another turn`);
  const records = new Map(kept.messages.map((message) => [message.id, message]));
  for (const message of added) {
    records.set(message.id, { ...message, turnId: kept.turn.id, turnNo: kept.turn.no });
  }
  const merged = [...records.values()].sort(byOrder);
  if (new Set(merged.map(({ position }) => position)).size < merged.length) {
    throw new Error(`two records of turn ${kept.turn.id} have the same position`);
  }
  return merged;
}

/** The first of the quotas that is used up. */
export function findExhausted(state: State, quotas: readonly Quota[]): Quota | undefined {
  return quotas.find((quota) => (state.uses.get(useKey(quota))?.amount ?? 0) >= quota.limit);
}

/** Adds to what was used within a window. */
export function addUse(state: State, { subject, measure, from, amount }: Use): void {
  const key = useKey({ subject, measure, from });
  state.uses.set(key, { subject, measure, from, amount: (state.uses.get(key)?.amount ?? 0) + amount });
}

function useKey({ subject, measure, from }: Pick<Use, 'subject' | 'measure' | 'from'>): string {
  return JSON.stringify([subject, measure, from]);
}
