import type { Followed } from './client.js';
import type { Figures } from './figures.js';
import type { RunOptions } from './options.js';
import { Random } from './random.js';
import { openAmong, watchRecovery } from './recovery.js';
import type { Site } from './site.js';
import type { WeatherActor } from './weather/actor.js';
import { sleep, type World } from './world.js';

/** About how many kills a card of the deck makes. */
const KILLS_A_CARD = 2.5;
const MOST_AT_ONCE = 8;
/** Without any weather, clients talk for so long. */
const FAIR_MS = 30_000;

/** Plays all weather, one kind after another, in an order of chance, each as often in a round as its share says. */
export class Operator {
  /** What happened, and how long it took to come right, in words for the output. */
  readonly notes: string[] = [];
  readonly #played = new Map<string, number>();
  readonly #random: Random;
  readonly #watching: Random;
  /** When the last fault was over, with all that came of it; null: it is not. */
  #quietSince: number | null = 0;

  constructor(
    private readonly site: Site,
    private readonly actors: readonly WeatherActor[],
    private readonly figures: Figures,
    private readonly seed: string,
  ) {
    this.#random = new Random(seed, 'operator');
    this.#watching = new Random(seed, 'watching');
  }

  /** Whether a turn may have lost its owner since this time. */
  isTroubledSince(time: number): boolean {
    return this.#quietSince === null || this.#quietSince >= time;
  }

  /** How often each kind was played. */
  get played(): ReadonlyMap<string, number> {
    return this.#played;
  }

  /**
   * Plays whole rounds until it has killed so often; at least one, so that every kind was played. With a limit of time
   * it plays until then, whatever was killed. Ends with all nodes well.
   * @param least rounds at least
   */
  async run(
    world: World,
    { kills, rounds: least, minutes }: Pick<RunOptions, 'kills' | 'rounds' | 'minutes'>,
    conversations: () => readonly Followed[],
  ): Promise<void> {
    const until = minutes === null ? null : performance.now() + minutes * 60_000;
    const isOver = (): boolean => until !== null && performance.now() >= until;
    const deck = this.actors.flatMap((actor) => Array.from({ length: actor.share }, () => actor));
    if (deck.length === 0) {
      await sleep(FAIR_MS);
      return;
    }
    const planned = Math.max(least, 1, Math.round(kills / (deck.length * KILLS_A_CARD)));
    for (let round = 1; ; round++) {
      const before = this.figures.of('kills');
      let killers = deck.filter(({ name }) => name === 'kill').length * Math.max(1, planned - round + 1);
      for (const actor of this.#random.shuffle(deck)) {
        const left = Math.max(0, kills - this.figures.of('kills'));
        const share =
          until === null
            ? Math.min(MOST_AT_ONCE, Math.max(1, Math.ceil(left / Math.max(1, killers))))
            : this.#random.integer(1, MOST_AT_ONCE);
        if (actor.name === 'kill') killers--;
        await this.#play(actor, share, world, conversations());
        if (isOver()) return;
      }
      if (until !== null) continue;
      const made = this.figures.of('kills');
      if (round >= planned && (made >= kills || made === before)) return;
    }
  }

  async #play(
    actor: WeatherActor,
    kills: number,
    world: World,
    conversations: readonly Followed[],
  ): Promise<void> {
    const { site, figures, seed } = this;
    await sleep(this.#random.between(200, 1_200));
    const times = (this.#played.get(actor.name) ?? 0) + 1;
    this.#played.set(actor.name, times);
    const random = new Random(seed, 'weather', actor.name, times);
    const open = openAmong(conversations, figures);
    const [first, ...others] = random.shuffle(site.nodes);
    if (first === undefined) throw new Error('there are no nodes');
    this.#quietSince = null;
    const { since, after } = await actor.play({
      ...{ site, figures, random, open, kills, nodes: [first, ...others] },
      watch: (from, what, except) =>
        watchRecovery(
          except === undefined ? world : { ...world, door: (by) => site.door(by, except), isEnding: false },
          open,
          { since: from, after: what, random: this.#watching },
        ),
    });
    const took = (): string => ((Date.now() - since) / 1000).toFixed(1);
    const [recovered] = await Promise.all([
      watchRecovery(world, open, { since, after, random: this.#watching }).then(took),
      this.#restart().then(() => site.watchHealth(after)),
    ]);
    const what = `${String(open.length)} open threads at work or ended after ${recovered} s`;
    this.notes.push(`${actor.name}: ${after}: ${what}, all nodes well after ${took()} s`);
    this.#quietSince = Date.now();
  }

  async #restart(): Promise<void> {
    if (this.site.nodes.some(({ isRunning }) => isRunning)) await sleep(this.#random.between(0, 2_000));
    await this.site.startAll();
  }
}
