import type { SurfaceName } from '../../../src/client/index.js';
import { Random } from '../../chaos/random.js';
import { AskingTab } from './asking-tab.js';
import { FaultyNetwork } from './faulty-network.js';
import { ScriptedSession } from './scripted-session.js';
import { respond } from './scripted-service.js';
import { RULES, type Report, type Rule, type SimulatedTab } from './simulated-tab.js';
import { Tab } from './tab.js';
import { settle, VirtualTime } from './virtual-time.js';

/** What a simulation has apart from two tabs and messages that arrive in any order. */
export interface Plan {
  readonly surface: SurfaceName;
  /** True: streams are cut, requests and responses are lost, and turns are interrupted. */
  readonly isFaulty: boolean;
  /** True: the tabs ask, instead of watching and sending. */
  readonly areAsking?: boolean;
  /** True: all replies are made of the same pieces of text. */
  readonly areRepliesEqual?: boolean;
}

/** The result of a simulation. */
export interface Outcome {
  readonly seed: number;
  /** How each rule was broken. */
  readonly problems: Readonly<Record<Rule, readonly string[]>>;
  /** Everything that happened, in order. */
  readonly trace: readonly string[];
}

/** Something that can happen next, and how likely it is compared with the others. */
interface Choice {
  readonly weight: number;
  readonly act: () => void;
}

const STEPS = 120;
const MESSAGES = 6;
/** Timers further away than this, in milliseconds, are timeouts of requests. */
const NEAR_MS = 50_000;
/** Longer than any pause of the client, in milliseconds. */
const QUIET_MS = 12_000;
/** More deliveries than any quiet period needs. */
const DELIVERIES = 2_000;

/** Two tabs that watch, or ask, one session of a scripted service. Equal seeds give equal simulations. */
export class Simulation {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #session: ScriptedSession;
  readonly #network: FaultyNetwork;
  readonly #tabs: readonly [SimulatedTab, SimulatedTab];
  readonly #trace: string[] = [];
  readonly #problems = Object.fromEntries(RULES.map((rule) => [rule, [] as string[]])) as Record<
    Rule,
    string[]
  >;
  #sent = 0;

  constructor(
    private readonly seed: number,
    private readonly plan: Plan,
  ) {
    const { surface, areAsking = false } = plan;
    this.#random = new Random(seed);
    this.#time = new VirtualTime(new Random('time', seed));
    const trace = (line: string) => void this.#trace.push(line);
    this.#session = new ScriptedSession(plan, this.#random, trace);
    this.#network = new FaultyNetwork((request) => respond(this.#session, request), trace);
    const report: Report = { trace, broken: this.#broken };
    const tab = (name: string) => {
      const service = { url: 'http://host', sessionId: '11111111-1111-4111-8111-111111111111', surface };
      const options = { ...service, fetch: this.#network.fetchFrom(name) };
      return new (areAsking ? AskingTab : Tab)(name, this.#session, report, options);
    };
    this.#tabs = [tab('tab A'), tab('tab B')];
  }

  async run(): Promise<Outcome> {
    await this.#time.during(() => this.#run());
    return { seed: this.seed, problems: this.#problems, trace: this.#trace };
  }

  async #run(): Promise<void> {
    for (const tab of this.#tabs) tab.open();
    await settle();
    for (let step = 0; step < STEPS; step++) {
      this.#act();
      await settle();
      if (this.#random.chance(0.04)) await this.#checkViews();
    }
    await this.#checkViews();
    while (this.#session.isBusy) {
      this.#session.work();
      if (this.#random.chance(0.2)) await this.#deliverAll();
    }
    await this.#checkViews();
    await this.#close();
  }

  /** Lets one of the things happen that can happen next. */
  #act(): void {
    const choices = [...this.#deliveries(), ...(this.plan.isFaulty ? this.#faults() : []), ...this.#events()];
    let left = this.#random.next() * choices.reduce((sum, { weight }) => sum + weight, 0);
    choices.find(({ weight }) => (left -= weight) < 0)?.act();
  }

  #deliveries(): Choice[] {
    const network = this.#network;
    const full = network.streams.filter(({ frames }) => frames.length > 0);
    const empty = network.streams.filter(({ frames, isEnding }) => isEnding && frames.length === 0);
    return [
      ...each(network.flights, 3, (flight) => {
        network.move(flight);
      }),
      ...each(full, 4, (stream) => {
        network.deliver(stream, this.#random.integer(1, 3));
      }),
      ...each(empty, 3, (stream) => {
        network.close(stream);
      }),
    ];
  }

  #faults(): Choice[] {
    const network = this.#network;
    const losses = each(network.flights, 0.25, (flight) => {
      network.lose(flight);
    });
    const cuts = each(network.streams, 0.2, (stream) => {
      network.cut(stream);
    });
    const interrupt = {
      weight: this.#session.isBusy ? 0.15 : 0,
      act: () => {
        this.#session.interrupt();
      },
    };
    return [...losses, ...cuts, interrupt];
  }

  /** What the service, people and the time do. */
  #events(): Choice[] {
    const mayMessage = this.#sent < MESSAGES;
    const sends = each(this.#tabs, mayMessage ? 0.7 : 0, (tab) => void tab.send(this.#nextMessage()));
    return [
      ...sends,
      // Of a client that is not simulated.
      {
        weight: mayMessage ? 0.4 : 0,
        act: () => void this.#session.accept(this.#nextMessage(), `key ${String(this.#sent)}`),
      },
      {
        weight: this.#session.isBusy ? 6 : 0,
        act: () => {
          this.#session.work();
        },
      },
      {
        weight: 0.3,
        act: () => {
          this.#tabs[0].client.refresh();
        },
      },
      { weight: 1, act: () => void this.#passTime(this.#time.now + NEAR_MS) },
    ];
  }

  /** Lets the next timer act. */
  #passTime(until: number): boolean {
    const hasPassed = this.#time.actNext(until);
    if (hasPassed) this.#trace.push(`time: ${this.#time.now.toFixed(0)} ms`);
    return hasPassed;
  }

  #nextMessage(): string {
    return `message ${String(++this.#sent)}`;
  }

  /** Delivers everything, and lets pauses of the clients pass, while the session stands still. */
  async #deliverAll(): Promise<void> {
    const until = this.#time.now + QUIET_MS;
    for (let count = 0; count < DELIVERIES; count++) {
      if (!this.#network.deliverNext() && !this.#passTime(until)) return;
      await settle();
    }
    this.#broken('progress', 'the clients send requests without end');
  }

  async #checkViews(): Promise<void> {
    await this.#deliverAll();
    this.#trace.push(`all delivered: "${this.#session.said}"`);
    for (const tab of this.#tabs) tab.checkView();
  }

  async #close(): Promise<void> {
    for (const tab of this.#tabs) {
      tab.checkEnd();
      tab.close();
    }
    await settle();
    for (const tab of this.#tabs) tab.checkClosed();
    const messages = new Set(this.#session.turns.map(({ message }) => message));
    if (messages.size < this.#session.turns.length) this.#broken('progress', 'a message was accepted twice');
    const { flights, streams } = this.#network;
    const left = { timers: this.#time.pending, requests: flights.length, streams: streams.length };
    if (Object.values(left).some((count) => count > 0)) this.#broken('closing', JSON.stringify(left));
  }

  readonly #broken = (rule: Rule, problem: string): void => {
    this.#problems[rule].push(problem);
    this.#trace.push(`PROBLEM ${problem}`);
  };
}

/** Returns a choice for each of some things. */
function each<T>(things: readonly T[], weight: number, act: (thing: T) => void): Choice[] {
  return things.map((thing) => ({
    weight,
    act: () => {
      act(thing);
    },
  }));
}
