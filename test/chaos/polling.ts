import type { Conversation } from './conversation.js';
import type { Random } from './random.js';
import { LegacyState, read, Snapshot } from './shapes.js';
import { ask, Cut, Hung, type Answer } from './wire.js';
import { judge, judgeCut, type Door, type World } from './world.js';

/**
 * Polls the state of the current surface, at times with the tag of the last one. Undefined: no response. A deleted
 * session is not processing.
 */
export async function pollState(
  world: World,
  conversation: Conversation,
  random: Random,
  useTag = false,
): Promise<Pick<Snapshot, 'is_processing'> | undefined> {
  const askedAt = Date.now();
  const before = conversation.newestCursor;
  const known = useTag && random.chance(0.5) ? conversation.etag : null;
  const headers = {
    'X-Session-Id': conversation.id,
    ...(known === null ? {} : { 'If-None-Match': known.tag }),
  };
  const expected = (): number[] => [
    200,
    ...(known === null ? [] : [304]),
    ...(conversation.removal === null ? [] : [404]),
  ];
  const polled = await poll(world, conversation, { path: '/api/state', headers, expected, random });
  if (polled === undefined) return undefined;
  const { answer, door } = polled;
  if (answer.status === 404) {
    for (const sent of conversation.sent) sent.hasEnded = true;
    return { is_processing: false };
  }
  if (answer.status === 304) world.figures.count('notModified');
  const body = answer.status === 304 && known !== null ? known.body : answer.body;
  const snapshot = read(Snapshot, body);
  if (snapshot === undefined) {
    world.figures.fault('unexpected', `state of ${conversation.name}: ${body.slice(0, 300)}`);
    return undefined;
  }
  const from = `${answer.status === 304 ? 'state, not modified' : 'state'} ${door.node}`;
  conversation.compare(snapshot.messages, snapshot.is_processing, askedAt, from);
  const { etag } = answer.headers;
  if (answer.status === 200 && etag !== undefined) conversation.etag = { tag: etag, body };
  compareCursor(world, conversation, polled, before);
  return snapshot;
}

/** Polls the state of the legacy surface. */
export async function pollLegacy(world: World, conversation: Conversation, random: Random): Promise<void> {
  const askedAt = Date.now();
  const path = `/api/thread/state?session_id=${conversation.id}`;
  const expected = (): number[] =>
    conversation.isStored && conversation.removal === null ? [200] : [200, 404];
  const polled = await poll(world, conversation, { path, headers: {}, expected, random });
  if (polled?.answer.status !== 200) return;
  const { answer, door } = polled;
  const state = read(LegacyState, answer.body);
  if (state === undefined) {
    world.figures.fault('unexpected', `legacy state of ${conversation.name}: ${answer.body.slice(0, 300)}`);
    return;
  }
  conversation.compare(state.messages, state.status === 'processing', askedAt, `legacy state ${door.node}`);
}

interface Polled {
  readonly answer: Answer;
  readonly door: Door;
}

async function poll(
  world: World,
  conversation: Conversation,
  options: { path: string; headers: Record<string, string>; expected: () => number[]; random: Random },
): Promise<Polled | undefined> {
  const { path, headers, expected, random } = options;
  const door = world.door(random);
  const askedAt = Date.now();
  const what = `GET ${path} of ${conversation.name} (${conversation.id})`;
  world.figures.count('polls');
  try {
    const answer = await ask({ method: 'GET', url: door.base + path, headers });
    const judgement = judge(world, what, answer, { door, askedAt, expected: expected() });
    return judgement === 'expected' ? { answer, door } : undefined;
  } catch (error) {
    if (error instanceof Hung) world.figures.fault('hung', error.message);
    else if (error instanceof Cut) judgeCut(world, what, door, error);
    else throw error;
    await world.whenUp();
    return undefined;
  }
}

/** The newest event's id never goes back behind what was known when it was asked for: what was announced is durable. */
function compareCursor(
  world: World,
  conversation: Conversation,
  { answer, door }: Polled,
  before: number,
): void {
  if (conversation.removal !== null) return;
  const cursor = Number(answer.headers['x-event-cursor']);
  if (!Number.isInteger(cursor)) {
    world.figures.fault('unexpected', `state of ${conversation.name}: no X-Event-Cursor`);
    return;
  }
  if (cursor < before && world.staleMs === 0) {
    const detail = `${conversation.name} (${conversation.id}) ${door.node}: the cursor went from ${String(before)}`;
    world.figures.fault('eventGap', `${detail} back to ${String(cursor)}`);
  }
  conversation.newestCursor = Math.max(conversation.newestCursor, cursor);
}
