import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { Message } from '../../src/core/model/message.js';
import type {
  Acceptance,
  Accepted,
  SessionChange,
  Store,
  TurnEnding,
  Prune,
} from '../../src/core/ports/store.js';
import { NO_USAGE, type Lease, type ClaimedTurn } from '../../src/core/model/turn.js';

/** A fixed moment, so that times can be compared. */
export const T0 = 1_750_000_000_000;

/** A lease that holds for longer than any test. */
export const LEASE: Lease = { owner: 'node-a', milliseconds: 600_000 };
/** Bounds of secrets that no test reaches. */
export const WIDE = { names: 1_000, client: 1e9, app: 1e9 };
/** A lease that is lost as soon as it is given. */
export const LOST: Lease = { owner: 'node-lost', milliseconds: -1 };

/** Prunes nothing. */
export const NO_PRUNE: Prune = {
  ...{ at: T0, threadsBefore: null, eventsKept: 1000, eventsSince: 0, idempotencyBefore: 0 },
  ...{ usesBefore: 0, transactionsBefore: 0, usageBefore: 0, activityBefore: 0 },
};

export type OpenStore = () => Promise<{ store: Store; close(): Promise<void> }>;

/** Opens a store for each test and closes it after. */
export type WithStore = (run: (store: Store) => Promise<void>) => () => Promise<void>;

export function change(id: string, over: Partial<SessionChange> = {}): SessionChange {
  return { id, ifMissing: 'create', set: {}, events: [], isActivity: false, at: T0, ...over };
}

export function acceptance(sessionId: string, over: Partial<Acceptance> = {}): Acceptance {
  return {
    sessionId,
    ifVersion: 0,
    set: {},
    text: 'hello',
    messageId: randomUUID(),
    turnId: randomUUID(),
    app: 'default',
    clientId: null,
    keyId: null,
    quotas: [],
    idempotency: null,
    busy: 'enqueue',
    maxQueued: 50,
    maxSessionBytes: 33_554_432,
    claim: null,
    at: T0,
    ...over,
  };
}

/** Accepts a message whatever the session's version is. */
export async function send(
  store: Store,
  sessionId: string,
  over: Partial<Acceptance> = {},
): Promise<Extract<Accepted, { kind: 'accepted' }>> {
  const accepted = await store.acceptMessage(
    acceptance(sessionId, { ifVersion: await versionOf(store, sessionId), ...over }),
  );
  if (accepted.kind !== 'accepted') throw new Error(`the message was not accepted: ${accepted.kind}`);
  return accepted;
}

/** Accepts a message and claims its turn. */
export async function sendAndClaim(
  store: Store,
  sessionId: string,
  over: Partial<Acceptance> = {},
): Promise<ClaimedTurn> {
  const { claimed } = await send(store, sessionId, { claim: LEASE, ...over });
  if (claimed === null) throw new Error('the turn was not claimed');
  return claimed;
}

export async function versionOf(store: Store, sessionId: string): Promise<number> {
  const thread = await store.loadThread(sessionId);
  return typeof thread === 'string' ? 0 : thread.session.version;
}

export async function loaded(store: Store, sessionId: string) {
  const thread = await store.loadThread(sessionId);
  if (typeof thread === 'string') throw new Error(`the session is ${thread}`);
  return thread;
}

/** Claims as a process that has just started does: every lease whose stored end is past counts as lost. */
export async function claimFree(store: Store, lease: Lease, limit: number): Promise<ClaimedTurn[]> {
  const lost = (await store.readLeases()).filter(({ leftMs }) => leftMs <= 0);
  return store.claimAbandoned(lease, lost, limit);
}

/** A record of a turn. */
export function record(
  turn: { id: string; no: number },
  position: number,
  over: Partial<Message> = {},
): Message {
  return {
    id: randomUUID(),
    turnId: turn.id,
    turnNo: turn.no,
    position,
    role: 'assistant',
    content: `answer ${String(turn.no)}.${String(position)}`,
    toolCalls: null,
    toolResults: null,
    createdAt: T0,
    ...over,
  };
}

export function ending(over: Partial<TurnEnding> = {}): TurnEnding {
  return {
    outcome: 'complete',
    messages: [],
    events: [],
    error: null,
    rig: 'demo',
    usage: NO_USAGE,
    shownTokens: 0,
    uses: [],
    claimNext: null,
    at: T0,
    ...over,
  };
}

/** Ends a turn that must not be lost. */
export async function end(store: Store, turn: ClaimedTurn, over: Partial<TurnEnding> = {}) {
  const ended = await store.endTurn(turn, ending(over));
  if (ended === 'lost') throw new Error('the turn is lost');
  return ended;
}

/** What a thread says, in the order that a snapshot shows. */
export async function contents(store: Store, sessionId: string): Promise<string[]> {
  const { settled, open } = await loaded(store, sessionId);
  return [...settled, ...open.flatMap(({ messages }) => messages)].map(({ content }) => content);
}

/** Fails unless a step changes the revision of a session by `by`. */
export async function expectRevision(
  store: Store,
  sessionId: string,
  by: number,
  step: () => Promise<unknown>,
): Promise<void> {
  const before = await store.revisionOf(sessionId);
  await step();
  expect(await store.revisionOf(sessionId)).toBe(Number(before) + by);
}
