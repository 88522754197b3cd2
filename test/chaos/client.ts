import { Conversation } from './conversation.js';
import { deliver, repeat, watchTurn } from './delivery.js';
import { Follower } from './follower.js';
import { remove } from './removal.js';
import { rename } from './rename.js';
import { pollLegacy, pollState } from './polling.js';
import { Random } from './random.js';
import { read, Snapshot } from './shapes.js';
import { ask, Cut, Hung } from './wire.js';
import { judge, judgeCut, sleep, type World } from './world.js';

const MAX_OPEN = 5;
const MESSAGES_PER_SESSION = 12;
/** What was sent to a store and not answered may be carried out so long after: it waits for a lock, or in a buffer. */
const LATE_MS = 8_000;

type Action =
  | 'send'
  | 'burst'
  | 'interrupt'
  | 'poll'
  | 'legacyPoll'
  | 'settle'
  | 'reconnect'
  | 'repeat'
  | 'watch'
  | 'rename'
  | 'delete'
  | 'new'
  | 'idle';

/** A conversation with those who follow it. */
export interface Followed {
  readonly conversation: Conversation;
  readonly followers: Follower[];
}

/** One person with one conversation at a time. */
export class Client {
  readonly conversations: Followed[] = [];
  readonly #random: Random;
  readonly #background = new Set<Promise<void>>();
  #current: Followed;

  constructor(
    private readonly world: World,
    readonly index: number,
  ) {
    this.#random = new Random(world.seed, 'client', index);
    this.#current = this.#begin();
  }

  /** Acts until the world is ending; resolves when nothing of it is under way. */
  async run(): Promise<void> {
    while (!this.world.isEnding) {
      await this.#act();
      await sleep(this.#random.between(20, 250));
    }
    await Promise.all(this.#background);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const { conversation, followers } = this.#current;
    const isBusy = conversation.open.length > 0;
    const action = random.weigh<Action>(
      [
        ['send', conversation.open.length >= MAX_OPEN ? 0 : isBusy ? 12 : 45],
        ['burst', conversation.open.length + 3 > MAX_OPEN ? 0 : 6],
        ['interrupt', isBusy ? 3 : 1],
        ['poll', 14],
        ['legacyPoll', 8],
        ['settle', isBusy ? 10 : 0],
        ['reconnect', 8],
        ['repeat', 4],
        ['watch', isBusy ? 10 : 0],
        ['rename', this.world.has('rename') && conversation.isStored ? 3 : 0],
        [
          'delete',
          this.world.has('delete') && conversation.sent.length >= 3 && conversation.isStored ? 3 : 0,
        ],
        ['new', conversation.sent.length >= MESSAGES_PER_SESSION ? 60 : 1],
        ['idle', 6],
      ],
      'idle',
    );
    switch (action) {
      case 'send':
        await this.#send();
        return;
      case 'burst':
        await Promise.all([this.#send(), this.#send(), this.#send()]);
        return;
      case 'interrupt':
        await this.#interrupt(conversation);
        return;
      case 'poll':
        await pollState(this.world, conversation, random, true);
        return;
      case 'legacyPoll':
        await pollLegacy(this.world, conversation, random);
        return;
      case 'settle':
        await this.#settle(conversation);
        return;
      case 'reconnect':
        followers[random.integer(0, followers.length - 1)]?.reconnect();
        return;
      case 'repeat': {
        const known = conversation.sent.filter(({ key, ackedAt }) => key !== null && ackedAt !== null);
        const sent = known[random.integer(0, known.length - 1)];
        if (sent !== undefined) await repeat(this.world, conversation, sent);
        return;
      }
      case 'watch': {
        const known = conversation.open.filter(({ key }) => key !== null);
        const sent = known[random.integer(0, known.length - 1)];
        if (sent !== undefined)
          this.#goOn(watchTurn(this.world, conversation, sent, new Random(random.uuid())));
        return;
      }
      case 'rename':
        await rename(this.world, conversation, random);
        return;
      case 'delete':
        // At times a message is on its way.
        if (random.chance(0.4)) void this.#send();
        await remove(this.world, this.#current, random);
        this.#current = this.#begin();
        return;
      case 'new':
        this.#current = this.#begin();
        return;
      case 'idle':
        await sleep(random.between(100, 600));
    }
  }

  #begin(): Followed {
    const { world } = this;
    const name = `c${String(this.index)}s${String(this.conversations.length + 1)}`;
    const conversation = new Conversation(
      name,
      new Random(world.seed, 'id', name).uuid(),
      world.script,
      world.figures,
      world.staleMs,
    );
    world.figures.count('sessions');
    const followers = Array.from(
      { length: this.#random.integer(1, 2) },
      (_, at) =>
        new Follower(world, conversation, `${name}f${String(at)}`, this.#random.chance(0.8) ? 0 : null),
    );
    for (const follower of followers) follower.start();
    const followed = { conversation, followers };
    this.conversations.push(followed);
    return followed;
  }

  /** Resolves once it is decided, at times before: then the next thing is done while nobody knows. */
  async #send(): Promise<void> {
    const { conversation } = this.#current;
    const { decided, done } = deliver(this.world, conversation, conversation.compose());
    this.#goOn(done);
    if (this.#random.chance(0.75)) await decided;
    else await sleep(this.#random.between(0, 100));
  }

  /** Has something go on while the next thing is done. */
  #goOn(done: Promise<void>): void {
    this.#background.add(done);
    void done.finally(() => this.#background.delete(done));
  }

  async #interrupt(conversation: Conversation): Promise<void> {
    const { world } = this;
    const isLegacy = this.#random.chance(0.5);
    const wasQuiet = isQuiet(world, conversation);
    const end = conversation.beginInterrupt();
    world.figures.count('interrupts');
    const door = world.door(this.#random);
    const askedAt = Date.now();
    const what = `interrupt of ${conversation.name} (${conversation.id})`;
    let isSure = false;
    try {
      const path = isLegacy ? `/api/thread/interrupt?session_id=${conversation.id}` : '/api/interrupt';
      const headers = { 'X-Session-Id': conversation.id };
      const answer = await ask({ method: 'POST', url: door.base + path, headers });
      const mayBeUnknown = conversation.removal !== null || (isLegacy && !conversation.isStored);
      const expected = mayBeUnknown ? [200, 404] : [200];
      const judgement = judge(world, what, answer, { door, askedAt, expected });
      isSure = judgement === 'expected' || judgement === 'refused';
      if (judgement !== 'expected' || isLegacy || answer.status === 404) return;
      const snapshot = read(Snapshot, answer.body);
      if (snapshot === undefined) {
        world.figures.fault('unexpected', `${what}: ${answer.body.slice(0, 300)}`);
        return;
      }
      conversation.compare(snapshot.messages, snapshot.is_processing, askedAt, `interrupt ${door.node}`);
      if (
        snapshot.is_processing &&
        conversation.removal === null &&
        world.staleMs === 0 &&
        wasQuiet &&
        isQuiet(world, conversation)
      ) {
        world.figures.fault('snapshot', `${what}: still processing`);
      }
    } catch (error) {
      if (error instanceof Hung) world.figures.fault('hung', error.message);
      else if (error instanceof Cut) judgeCut(world, what, door, error);
      else throw error;
      await world.whenUp();
    } finally {
      if (isSure) end();
      else void world.weather.whenCalm().then(() => setTimeout(end, LATE_MS));
    }
  }

  async #settle(conversation: Conversation): Promise<void> {
    for (let tries = 0; tries < 12 && conversation.open.length > 0 && !this.world.isEnding; tries++) {
      await pollState(this.world, conversation, this.#random, true);
      await sleep(this.#random.between(100, 300));
    }
  }
}

/** No message of it is on its way, nor may be. */
function isQuiet({ weather }: World, { sending, brokenAt }: Conversation): boolean {
  if (sending > 0 || weather.calmSince === null) return false;
  return brokenAt === 0 || Date.now() - Math.max(brokenAt, weather.calmSince) > LATE_MS;
}
