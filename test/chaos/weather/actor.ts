import type { Followed } from '../client.js';
import type { Figures } from '../figures.js';
import type { Random } from '../random.js';
import type { ServedNode } from '../served-node.js';
import type { Site } from '../site.js';

/** What a kind of weather leaves to be watched. */
export interface Aftermath {
  /** From when on everything must come right within ten seconds. */
  readonly since: number;
  /** What happened, in words for the output. */
  readonly after: string;
}

/** What a kind of weather knows when it is played. */
export interface Scene {
  readonly site: Site;
  readonly figures: Figures;
  /** Its own choices: a function of the seed, its name and how often it was played. */
  readonly random: Random;
  /** The nodes in an order of chance. */
  readonly nodes: readonly [ServedNode, ...ServedNode[]];
  /** The threads whose turns had not ended when it began. */
  readonly open: readonly Followed[];
  /** How often it should kill, where killing is what it does. */
  readonly kills: number;
  /**
   * Sees to it that the open threads are worked on again, or have ended, ten seconds after a time, as other nodes than
   * one say.
   */
  readonly watch: (since: number, after: string, except?: ServedNode) => Promise<void>;
}

/** A kind of fault that an operator makes while clients talk. Everything is well when it has been played. */
export interface WeatherActor {
  /** As in `--only` and `--without`. */
  readonly name: string;
  readonly about: string;
  /** How often it is played in a round. */
  readonly share: number;
  /** Why it does not apply to this site; null: it does. */
  misses(site: Site): string | null;
  /** What has to be installed before it can be played; null or absent: nothing. */
  lacks?(site: Site): string | null;
  play(scene: Scene): Promise<Aftermath>;
}
