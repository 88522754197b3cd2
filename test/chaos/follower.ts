import type { Conversation } from './conversation.js';
import { Random } from './random.js';
import { UpdateEvent } from './shapes.js';
import { Cut, eventsOf, Hung, open, type Ask, type OpenAnswer } from './wire.js';
import { judge, judgeCut, sleep, type Door, type World } from './world.js';

/** A session whose deletion was acknowledged is not followed any more. */
function isGone({ removal }: Conversation): boolean {
  return removal !== null && removal.ackedAt !== null;
}

/** Follows a session's updates, leaves and comes back with its cursor at random, and checks that it misses nothing. */
export class Follower {
  /** The last event seen; null: it wants only what is new. */
  cursor: number | null;
  readonly #random: Random;
  #isStopped = false;
  /** Aborted when the present stream was closed from here. */
  #visit = new AbortController();
  #open: OpenAnswer | null = null;
  #openedAt = 0;
  /** The turns that the open stream has shown the beginning of, and not the end. */
  #turns: Map<string, string> | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly world: World,
    private readonly conversation: Conversation,
    readonly name: string,
    start: number | null,
  ) {
    this.cursor = start;
    this.#random = new Random(world.seed, 'follower', name);
  }

  /** Turns that are running as far as it knows. */
  get running(): readonly string[] {
    return [...(this.#turns?.keys() ?? [])];
  }

  /** True while a stream is open that was asked for before a time. */
  isOpenSince(time: number): boolean {
    return this.#open !== null && this.#openedAt < time;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.reconnect();
    await this.#running;
  }

  /** Goes away, and comes back with its cursor. */
  reconnect(): void {
    this.#visit.abort();
    this.#open?.close();
  }

  async #run(): Promise<void> {
    for (;;) {
      if (this.#isStopped || isGone(this.conversation)) return;
      const door = this.world.door(this.#random);
      const visit = (this.#visit = new AbortController());
      try {
        await this.#connect(door);
      } catch (error) {
        const what = `follower ${this.name} (${this.conversation.id})`;
        if (error instanceof Hung) this.world.figures.fault('hung', `${what}: ${error.message}`);
        else if (!(error instanceof Cut)) throw error;
        else if (!visit.signal.aborted) judgeCut(this.world, what, door, error);
        if (this.#random.chance(0.8)) await this.world.whenUp();
      }
      await sleep(this.#random.between(5, 150));
    }
  }

  async #connect(door: Door): Promise<void> {
    const { world } = this;
    const askedAt = Date.now();
    const { ask, withTurns } = this.#request(door.base);
    world.figures.count('connects');
    if (this.cursor !== null) world.figures.count('reconnects');
    const answer = await open(ask);
    const expected = this.conversation.removal === null ? [200] : [200, 404];
    const judgement = judge(world, `follower ${this.name}`, answer, { door, askedAt, expected });
    if (judgement !== 'expected' || answer.status !== 200) {
      answer.message.resume();
      return;
    }
    if (this.#isStopped) {
      answer.close();
      return;
    }
    this.#open = answer;
    this.#openedAt = askedAt;
    const turns = withTurns ? new Map<string, string>() : null;
    this.#turns = turns;
    try {
      for await (const { id, data } of eventsOf(answer.message)) this.#see(id, data, turns);
    } finally {
      this.#turns = this.#open = null;
    }
  }

  #request(base: string): { ask: Ask; withTurns: boolean } {
    const random = this.#random;
    const isLegacy = this.cursor !== null && random.chance(0.25) && this.conversation.isStored;
    const withTurns = !isLegacy && random.chance(0.4);
    const query = new URLSearchParams(withTurns ? { include: 'turns' } : {});
    const headers: Record<string, string> = {
      Accept: 'text/event-stream',
      'X-Session-Id': this.conversation.id,
    };
    if (this.cursor !== null) {
      if (random.chance(0.5)) headers['Last-Event-ID'] = String(this.cursor);
      else query.set('since', String(this.cursor));
    }
    const path = isLegacy ? '/api/thread/updates' : '/api/updates';
    return {
      ask: { method: 'GET', url: `${base}${path}?${query.toString()}`, headers },
      withTurns,
    };
  }

  #see(id: number | undefined, data: unknown, turns: Map<string, string> | null): void {
    const { figures } = this.world;
    const where = `${this.name} (${this.conversation.id})`;
    const parsed = UpdateEvent.safeParse(data);
    if (!parsed.success || parsed.data.session_id !== this.conversation.id) {
      figures.fault('unexpected', `${where}: event ${JSON.stringify(data)}`);
      return;
    }
    const event = parsed.data;
    switch (event.type) {
      case 'turn_started':
        turns?.set(event.turn_id, '');
        return;
      case 'text_delta':
        turns?.set(event.turn_id, (turns.get(event.turn_id) ?? '') + event.content);
        return;
      case 'turn_ended':
        this.#compareTurn(event, turns?.get(event.turn_id));
        turns?.delete(event.turn_id);
        return;
      case 'gap':
        if (this.conversation.removal !== null) return;
        figures.fault(
          'eventGap',
          `${where}: gap ${String(event.from)} to ${String(event.to)}, cursor ${String(this.cursor)}`,
        );
        this.cursor = event.to;
        return;
      case 'title_changed':
      case 'tool_update':
      case 'tool_complete':
      case 'system_notice':
        break;
    }
    if (id === undefined) {
      figures.fault('unexpected', `${where}: an event without an id: ${JSON.stringify(data)}`);
      return;
    }
    figures.count('events');
    if (this.conversation.removal !== null) return;
    if (this.cursor !== null && id <= this.cursor) {
      figures.fault('eventDouble', `${where}: ${String(id)} after ${String(this.cursor)}`);
    } else if (this.cursor !== null && id !== this.cursor + 1) {
      figures.fault('eventGap', `${where}: ${String(id)} after ${String(this.cursor)}`);
    }
    this.cursor = Math.max(id, this.cursor ?? 0);
    this.conversation.saw(id, JSON.stringify(data), this.name);
  }

  /** A stream that was opened during a turn has the text of its later steps alone. */
  #compareTurn({ turn_id, status }: { turn_id: string; status: string }, text: string | undefined): void {
    if (text === undefined) return;
    const { figures, script } = this.world;
    const where = `${this.name} (${this.conversation.id}): turn ${turn_id}, ${status}`;
    const { segments, mixed, wrong } = script.read(text);
    for (const what of mixed) figures.fault('mixed', `${where}: ${what}`);
    for (const what of wrong) figures.fault('turnEvents', `${where}: ${what}`);
    if (status !== 'complete' || mixed.length > 0) return;
    const last = segments.at(-1);
    if (last === undefined || !script.isWhole(last) || last.step !== script.steps(last.marker) - 1) {
      figures.fault('turnEvents', `${where}: showed ${JSON.stringify(text.slice(-200))} and not the end`);
      return;
    }
    this.conversation.followed.push({ follower: this.name, marker: last.marker, text });
  }
}
