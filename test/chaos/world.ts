import type { Figures } from './figures.js';
import type { Random } from './random.js';
import type { Script } from './script.js';
import type { ScriptedUpstream } from './upstream.js';
import type { Answer } from './wire.js';

/** A way into the service for one request. Its excuses are asked for when the request is over. */
export interface Door {
  readonly node: string;
  readonly base: string;
  /** 503 is right, and the request was not carried out: the node drains, or was restarted since. */
  mayRefuse(): boolean;
  /** An answer under way may break off: the node was killed. */
  mayBreak(): boolean;
  /** Nobody may answer: the node was ended. */
  mayBeShut(): boolean;
}

/** When the service cannot reach its store, or not from everywhere. */
export interface Weather {
  /** True when 503 is right for what was asked of a node since this time. Whether it was carried out nobody knows. */
  isRough(node: string, since: number): boolean;
  /** Since when everything is well; null: it is not. */
  readonly calmSince: number | null;
  /** Resolves when everything is well. */
  whenCalm(): Promise<void>;
}

/** What every actor knows. */
export interface World {
  readonly seed: string;
  readonly figures: Figures;
  readonly script: Script;
  readonly upstream: ScriptedUpstream;
  readonly weather: Weather;
  /** Chooses where to go, mostly where somebody is. */
  door(random: Random): Door;
  /** Resolves once there is somebody to answer. */
  whenUp(): Promise<void>;
  /**
   * Whether owners of turns may have been lost since this time: what is kept of an interrupted answer is then its last
   * checkpoint.
   */
  isTroubledSince(time: number): boolean;
  /** Whether the owner of an interrupted turn ever answered too late to keep it, with the same outcome. */
  hasFenced(): boolean;
  /** Whether a kind of weather or trouble was selected. */
  has(name: string): boolean;
  /** For how long a node may show what was so before: several services on one SQLite file look once a second. */
  readonly staleMs: number;
  /** Whether clocks may step, so that stored times say nothing about order. */
  readonly areClocksWrong: boolean;
  /** Deletes a session by the command line. False: it failed, or nobody knows. */
  deleteByCli(id: string): Promise<boolean>;
  /** Clients begin nothing new. */
  readonly isEnding: boolean;
}

/** What an answer means for what was asked. */
export type Judgement = 'expected' | 'refused' | 'unknown' | 'wrong';

/** Notes an answer that must not be. `refused`: surely not carried out; `unknown`: perhaps, or later. */
export function judge(
  world: World,
  what: string,
  answer: Pick<Answer, 'status' | 'headers'> & { readonly body?: string },
  { door, askedAt, expected }: { door: Door; askedAt: number; expected: readonly number[] },
): Judgement {
  const { status, headers } = answer;
  if (expected.includes(status)) return 'expected';
  const detail = `${what} ${door.node} -> ${String(status)} ${(answer.body ?? '').slice(0, 300)}`;
  const isRough = world.weather.isRough(door.node, askedAt);
  if (status !== 503 || !(isRough || door.mayRefuse())) {
    world.figures.fault(status >= 500 ? 'status' : 'unexpected', detail);
    return 'wrong';
  }
  world.figures.count('unavailable');
  if (headers['retry-after'] === undefined) world.figures.fault('unexpected', `${detail}: no Retry-After`);
  return isRough ? 'unknown' : 'refused';
}

/** Notes a connection that failed although nobody ended the node. */
export function judgeCut(world: World, what: string, door: Door, cut: { readonly wasReused: boolean }): void {
  // A kept connection may be closed by the one side while the other begins to use it.
  if (cut.wasReused || door.mayBeShut()) return;
  world.figures.fault('cutOff', `${what} ${door.node}`);
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
