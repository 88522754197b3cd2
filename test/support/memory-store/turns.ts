import { flightOf, type Flight } from '../../../src/core/model/flight.js';
import { textBytes, type Message } from '../../../src/core/model/message.js';
import type { Acceptance, Accepted, Progress, TurnEnding } from '../../../src/core/ports/store.js';
import type { AttemptUse } from '../../../src/core/ports/lease-store.js';
import type { Commit } from '../../../src/core/model/event.js';
import {
  isOpen,
  NO_USAGE,
  type ClaimedTurn,
  type Lease,
  type Turn,
  type TurnSummary,
  type Usage,
  type TurnClaim,
} from '../../../src/core/model/turn.js';
import type { Note, StoredNote } from '../../../src/core/ports/wallet-store.js';
import {
  addSystemEvent,
  addUse,
  claim,
  commit,
  ensureLive,
  findExhausted,
  findLive,
  mergeRecords,
  queuedTurns,
  runningTurn,
  setFields,
  type KeptSession,
  type KeptTurn,
  type State,
} from './state.js';

/** A turn and the session that it belongs to. */
export function findTurn(state: State, turnId: string): { kept: KeptSession; found: KeptTurn } | undefined {
  for (const kept of state.sessions.values()) {
    const found = kept.turns.find(({ turn }) => turn.id === turnId);
    if (found !== undefined) return { kept, found };
  }
  return undefined;
}

/** Why a message is not taken; undefined: it is. */
function refuse(live: KeptSession | undefined, asked: Acceptance): Accepted | undefined {
  const used = asked.idempotency === null ? undefined : live?.keys.get(asked.idempotency.key);
  if (used !== undefined && asked.idempotency !== null && used.createdAt >= asked.idempotency.notBefore) {
    return used.fingerprint === asked.idempotency.fingerprint
      ? { kind: 'repeated', turnId: used.turnId }
      : { kind: 'key_reused' };
  }
  if (asked.ifVersion !== (live?.session.version ?? 0)) return { kind: 'stale' };
  const bytes = textBytesOf(live);
  if (bytes + Buffer.byteLength(asked.text) > asked.maxSessionBytes) return { kind: 'full', bytes };
  if (live?.turns.some(({ turn }) => isOpen(turn.status)) === true) {
    if (asked.busy === 'reject') return { kind: 'busy' };
    if (asked.busy === 'enqueue' && queuedTurns(live).length >= asked.maxQueued)
      return { kind: 'queue_full' };
  }
  return undefined;
}

/** See `Store`. */
export function acceptMessage(state: State, asked: Acceptance): Accepted {
  const { sessionId, turnId, app, clientId, keyId, text, at, idempotency } = asked;
  const refusal = refuse(findLive(state, sessionId), asked);
  if (refusal !== undefined) return refusal;
  const quota = findExhausted(state, asked.quotas);
  if (quota !== undefined) return { kind: 'over_quota', quota };
  for (const bound of asked.quotas) if (bound.measure === 'turns') addUse(state, { ...bound, amount: 1 });
  if (findTurn(state, turnId) !== undefined) throw new Error(`there is a turn ${turnId} already`);

  const { kept, created } = ensureLive(state, sessionId, at);
  const interruption = asked.busy === 'interrupt' ? cancelTurns(kept, at) : { cancelled: [], running: null };
  const changed = setFields(kept, { ...asked.set, app });
  const { version, activeAt } = kept.session;
  kept.session = {
    ...kept.session,
    interrupted: false,
    activeAt: Math.max(activeAt, at),
    version: changed || created ? version + 1 : version,
  };
  const message: FirstRecord = { id: asked.messageId, role: 'user', content: text };
  const added = addTurn(kept, { id: turnId, app, clientId, keyId, status: 'queued', createdAt: at }, message);
  if (idempotency !== null) {
    const { key, fingerprint } = idempotency;
    kept.keys.set(key, { fingerprint, turnId, createdAt: at });
  }
  const claimed = claimIfNext(kept, added, asked.claim);
  const committed = commit(kept, [], at);
  return {
    kind: 'accepted',
    session: kept.session,
    created,
    turn: added.turn,
    message: firstOf(added),
    claimed,
    interruption,
    commit: committed,
  };
}

/** What a turn begins with. */
export type FirstRecord = Pick<Message, 'id' | 'role' | 'origin' | 'content'>;

/** Adds a turn behind the others of its session. */
export function addTurn(
  kept: KeptSession,
  asked: Omit<Turn, 'sessionId' | 'no' | 'error'>,
  first: FirstRecord,
): KeptTurn {
  const no = (kept.turns.at(-1)?.turn.no ?? 0) + 1;
  const turn: Turn = { ...asked, sessionId: kept.session.id, no, error: null };
  const message: Message = {
    ...first,
    turnId: turn.id,
    turnNo: no,
    position: 0,
    toolCalls: null,
    toolResults: null,
    createdAt: turn.createdAt,
  };
  const added: KeptTurn = {
    turn,
    messages: [message],
    owner: null,
    attempt: 0,
    losses: 0,
    leaseUntil: 0,
    cancelRequested: false,
    partialText: '',
    partialSince: 0,
    partialAttempt: 0,
    usage: NO_USAGE,
    ended: turn.status === 'complete' ? unused(turn.createdAt) : null,
  };
  kept.turns.push(added);
  return added;
}

/** The record that a turn began with. */
export function firstOf({ turn, messages: [first] }: KeptTurn): Message {
  if (first === undefined) throw new Error(`turn ${turn.id} has no record`);
  return first;
}

/** Claims a new turn unless another one runs or waits before it: a turn never overtakes. */
export function claimIfNext(kept: KeptSession, added: KeptTurn, lease: Lease | null): ClaimedTurn | null {
  const isNext = runningTurn(kept) === undefined && queuedTurns(kept)[0] === added;
  return isNext && lease !== null ? claim(added, lease) : null;
}

/** See `WalletStore`. */
export function addNote(state: State, note: Note): StoredNote {
  const { sessionId, turnId, messageId, app, text, at } = note;
  const bytes = textBytesOf(findLive(state, sessionId));
  if (bytes + Buffer.byteLength(text) > note.maxSessionBytes) return { kind: 'full', bytes };
  const { kept, created } = ensureLive(state, sessionId, at);
  const asked = { id: turnId, app, clientId: null, keyId: null, status: 'complete', createdAt: at } as const;
  const added = addTurn(kept, asked, { id: messageId, role: 'system', content: text });
  const { version, activeAt } = kept.session;
  kept.session = {
    ...kept.session,
    activeAt: Math.max(activeAt, at),
    version: created ? version + 1 : version,
  };
  const committed = commit(kept, [], at);
  const { turn } = added;
  return { kind: 'noted', session: kept.session, created, turn, message: firstOf(added), commit: committed };
}

function textBytesOf(live: KeptSession | undefined): number {
  const messages = live?.turns.flatMap((turn) => turn.messages) ?? [];
  return messages.reduce((sum, one) => sum + textBytes(one), 0);
}

function cancelTurns(kept: KeptSession, at: number): { cancelled: Turn[]; running: Turn | null } {
  const cancelled = queuedTurns(kept).map((queued) => {
    queued.turn = { ...queued.turn, status: 'interrupted' };
    queued.ended = unused(at);
    return queued.turn;
  });
  const running = runningTurn(kept);
  if (running !== undefined) running.cancelRequested = true;
  return { cancelled, running: running?.turn ?? null };
}

/** The turn if this claim of it still holds. */
export function findOwned(state: State, turn: TurnClaim) {
  const place = findTurn(state, turn.id);
  const { turn: kept, attempt, owner } = place?.found ?? {};
  return kept?.status === 'running' && attempt === turn.attempt && owner === turn.owner ? place : undefined;
}

/** See `Store`. */
export function interruptTurns(state: State, sessionId: string, at: number) {
  const kept = findLive(state, sessionId);
  if (kept?.turns.some(({ turn }) => isOpen(turn.status)) !== true) return undefined;
  const interruption = cancelTurns(kept, at);
  if (interruption.running === null) kept.session = { ...kept.session, interrupted: true };
  return { ...interruption, commit: commit(kept, [], at) };
}

/** See `Store`. */
export function saveProgress(
  state: State,
  turn: ClaimedTurn,
  progress: Progress,
  at: number,
): Commit | 'lost' {
  const place = findOwned(state, turn);
  if (place === undefined) return 'lost';
  const { kept, found } = place;
  const { events, repeatsAfter } = progress;
  if (repeatsAfter !== undefined) {
    const body = JSON.stringify(events[0]);
    const first = kept.events.findIndex(
      (event) => event.id > repeatsAfter && JSON.stringify(event.body) === body,
    );
    if (first !== -1)
      return { revision: kept.session.revision, events: kept.events.slice(first, first + events.length) };
  }
  found.messages = mergeRecords(kept, found, progress.messages);
  if (progress.partialText !== null) {
    found.partialText = progress.partialText;
    found.partialSince = progress.partialSince ?? 0;
    found.partialAttempt = found.attempt;
  }
  const shows = progress.messages.length > 0 || progress.events.length > 0;
  return shows ? commit(kept, progress.events, at) : { revision: kept.session.revision, events: [] };
}

/** See `Store`. */
export function endTurn(state: State, turn: ClaimedTurn, ending: TurnEnding) {
  const place = findOwned(state, turn);
  if (place === undefined) return 'lost';
  const { kept, found } = place;
  const { outcome, error, rig, usage, at } = ending;
  found.messages = mergeRecords(kept, found, ending.messages);
  for (const use of ending.uses) addUse(state, use);
  found.turn = { ...found.turn, status: outcome, error };
  addTokens(found, usage);
  found.ended = { rig, endedAt: at };
  found.owner = null;
  found.partialText = '';
  if (error !== null) addSystemEvent(kept, 'SystemError', error, at);
  const [head] = queuedTurns(kept);
  kept.session = {
    ...kept.session,
    interrupted: outcome === 'interrupted' && head === undefined,
    activeAt: Math.max(kept.session.activeAt, at),
  };
  const next = head !== undefined && ending.claimNext !== null ? claim(head, ending.claimNext) : null;
  return { commit: commit(kept, ending.events, at), next };
}

/** See `LeaseStore`. */
export function countAttempts(state: State, attempts: readonly AttemptUse[]): void {
  for (const { turnId, attempt, usage, uses } of attempts) {
    const found = findTurn(state, turnId)?.found;
    if (found?.attempt === attempt && found.ended !== null) continue;
    if (found !== undefined) addTokens(found, usage);
    for (const use of uses) addUse(state, use);
  }
}

function addTokens(kept: KeptTurn, { inputTokens, outputTokens }: Usage): void {
  kept.usage = {
    inputTokens: kept.usage.inputTokens + inputTokens,
    outputTokens: kept.usage.outputTokens + outputTokens,
  };
}

/** See `Store`. */
export function readFlight(state: State, sessionId: string): Flight | undefined {
  const kept = findLive(state, sessionId);
  const running = kept === undefined ? undefined : runningTurn(kept);
  if (running === undefined) return undefined;
  const { turn, attempt, messages, partialText, partialAttempt, partialSince: since } = running;
  const position = (messages.at(-1)?.position ?? -1) + 1;
  return flightOf({ turnId: turn.id, attempt, position, partialText, partialAttempt, since });
}

/** How a turn ends that no rig has seen. */
function unused(at: number): KeptTurn['ended'] {
  return { rig: null, endedAt: at };
}

/** See `Store`. */
export function readTurns(
  state: State,
  id: string,
  numbers: { readonly from: number; readonly to: number },
): TurnSummary[] {
  return (findLive(state, id)?.turns ?? [])
    .filter(({ turn }) => turn.no >= numbers.from && turn.no <= numbers.to)
    .map(({ turn: { id: turnId, no, app, status, error, createdAt }, usage, ended }) => ({
      ...{ id: turnId, no, app, status, error, createdAt, usage },
      ...(ended ?? { rig: null, endedAt: null }),
    }));
}
