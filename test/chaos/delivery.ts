import type { Conversation, SentMessage } from './conversation.js';
import { readChatStream } from './legacy-stream.js';
import { Random } from './random.js';
import { read, Snapshot } from './shapes.js';
import { ask, Cut, Hung, open, type Ask } from './wire.js';
import { judge, judgeCut, sleep, type Judgement, type World } from './world.js';

type Way = 'current' | 'wait' | 'legacy';

/** A send under way. */
export interface Delivery {
  /** Resolves once the message is acknowledged, refused, or given up on. */
  readonly decided: Promise<void>;
  /** Resolves once nothing of it is left to read. */
  readonly done: Promise<void>;
}

/**
 * Sends a message in a way that its marker chooses. Without an answer it is sent again with the same key, on any
 * surface, until there is one; a message without a key is not.
 */
export function deliver(world: World, conversation: Conversation, sent: SentMessage): Delivery {
  const random = new Random(world.seed, 'delivery', sent.marker);
  let decide: () => void = () => undefined;
  const decided = new Promise<void>((resolve) => (decide = resolve));
  conversation.sending++;
  if (conversation.open.length > 0) world.figures.count('queued');
  sent.startedAt = Date.now();
  const run = async (): Promise<void> => {
    for (;;) {
      if (await sendOnce(world, conversation, sent, { random, onAck: decide })) return;
      // Nobody sends to a session that is gone.
      if (conversation.removal !== null) return;
      if (sent.key === null) {
        world.figures.count(sent.isRefused ? 'refused' : 'unknown');
        return;
      }
      world.figures.count('retries');
      // Most clients wait for the server to be back; some knock at a closed door first.
      if (random.chance(0.8)) await world.whenUp();
      await sleep(random.between(10, 200));
    }
  };
  const done = run().finally(() => {
    decide();
    conversation.sending--;
  });
  return { decided, done };
}

/** A repeat of a message that was acknowledged: nothing may come of it. */
export async function repeat(world: World, conversation: Conversation, sent: SentMessage): Promise<void> {
  world.figures.count('repeats');
  const random = new Random(world.seed, 'repeat', sent.marker, sent.streams.length);
  await sendOnce(world, conversation, sent, { random, onAck: () => undefined });
}

/** Reads the legacy stream of a turn under way, mostly at another node than the one that works on it. */
export async function watchTurn(
  world: World,
  conversation: Conversation,
  sent: SentMessage,
  random: Random,
): Promise<void> {
  world.figures.count('watches');
  await sendOnce(world, conversation, sent, { random, onAck: () => undefined, way: 'legacy' });
}

/** True once it was acknowledged, whatever happened after. */
async function sendOnce(
  world: World,
  conversation: Conversation,
  sent: SentMessage,
  { random, onAck, way: given }: { readonly random: Random; readonly onAck: () => void; readonly way?: Way },
): Promise<boolean> {
  const way = given ?? random.weigh<Way>([['current', 40], ['wait', 20], ['legacy', 40]], 'current'); // prettier-ignore
  world.figures.count(way === 'legacy' ? 'sentLegacy' : 'sentCurrent');
  if (way === 'wait') world.figures.count('sentWait');
  const door = world.door(random);
  const askedAt = Date.now();
  const ack = { came: false };
  const onHead = (status: number): void => {
    if (status !== 200) return;
    ack.came = true;
    conversation.acknowledge(sent);
    onAck();
  };
  const request = { ...requestOf(door.base, conversation, sent, way), onHead };
  const what = `${way} send of ${sent.marker} (${conversation.id})`;
  // The session may be deleted before the answer to an accepted message is put together.
  const expected = (): number[] => (conversation.removal !== null ? [200, 410] : [200]);
  sent.underway++;
  if (conversation.removal !== null) sent.mayReturn = true;
  try {
    let judgement: Judgement;
    if (way === 'legacy') {
      const answer = await open(request);
      if (answer.status === 200) {
        await readChatStream(world, conversation, sent, { answer, door, random });
        return true;
      }
      judgement = judge(world, what, answer, { door, askedAt, expected: [200] });
      answer.message.resume();
    } else {
      const answer = await ask(request);
      judgement = judge(world, what, answer, { door, askedAt, expected: expected() });
      if (answer.status === 410) return true;
      if (judgement === 'expected') {
        const snapshot = read(Snapshot, answer.body);
        if (snapshot === undefined)
          world.figures.fault('unexpected', `${what}: ${answer.body.slice(0, 300)}`);
        else conversation.compare(snapshot.messages, snapshot.is_processing, askedAt, `${way} ${door.node}`);
      }
    }
    if (!ack.came) {
      sent.isRefused = judgement === 'refused' && !sent.mayBeStored;
      if (judgement === 'unknown') doubt(conversation, sent);
    }
  } catch (error) {
    if (error instanceof Hung) world.figures.fault('hung', `${what}: ${error.message}`);
    else if (error instanceof Cut) judgeCut(world, what, door, error);
    else throw error;
    if (!ack.came) doubt(conversation, sent);
  } finally {
    sent.underway--;
  }
  return ack.came;
}

/** Nobody knows whether it was stored, or will be. */
function doubt(conversation: Conversation, sent: SentMessage): void {
  sent.isRefused = false;
  sent.mayBeStored = true;
  conversation.brokenAt = Date.now();
}

function requestOf(base: string, conversation: Conversation, sent: SentMessage, way: Way): Ask {
  const key = sent.key === null ? {} : { 'Idempotency-Key': sent.key };
  const headers = { 'X-Session-Id': conversation.id, ...key };
  if (way === 'legacy') {
    return {
      method: 'POST',
      url: `${base}/api/thread/chat`,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: sent.text }),
    };
  }
  return {
    method: 'POST',
    url: `${base}/api/chat?message=${encodeURIComponent(sent.text)}`,
    headers: { ...headers, ...(way === 'wait' ? { Prefer: 'wait=6' } : {}) },
  };
}
