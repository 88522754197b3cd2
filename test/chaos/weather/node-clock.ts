import type { ClockFile } from '../clock-file.js';
import { sleep } from '../world.js';
import type { Aftermath, Scene, WeatherActor } from './actor.js';
import { killSome } from './kill.js';

const HOUR = 3_600;

/** The clock of a node steps by an hour and back; on SQLite it is the machine's, so that of all services. */
export const nodeClock: WeatherActor = {
  name: 'node-clock',
  about: 'the clock of a node steps an hour forward or back, nodes are killed, and it steps back again',
  share: 2,
  misses: () => null,
  play(scene) {
    const [node] = scene.nodes;
    return stepClock(scene, {
      clock: scene.site.clockOf(node),
      whose: scene.site.file === null ? node.name : 'the machine',
      count: () => {
        scene.figures.count('nodeClockSteps');
      },
    });
  },
};

/** Steps a clock, kills, watches, steps it back, and at times kills again. */
export async function stepClock(
  scene: Scene,
  { clock, whose, count }: { clock: ClockFile; whose: string; count: () => void },
): Promise<Aftermath> {
  const { site, random, watch } = scene;
  const by = random.pick([HOUR, -HOUR, -HOUR]);
  const step = (seconds: number): string => {
    const direction = seconds > clock.offsetSeconds ? 'forward' : 'back';
    clock.set(seconds);
    count();
    return `a step of the clock of ${whose} by an hour ${direction}`;
  };
  const kills = random.integer(1, 2);
  // A turn of a dead node has a lease by the clock of before; a node that lives renews its own by the clock of now.
  const isKilledBefore = random.chance(0.5);
  const before = isKilledBefore ? await killSome(scene, kills) : undefined;
  const there = step(by);
  if (before === undefined) await sleep(random.between(0, 2_500));
  const { since, after } = before ?? (await killSome(scene, kills));
  const restarted = site.startAll();
  await watch(since, `${there}, ${isKilledBefore ? 'after' : 'before'} ${after}`);
  await restarted;
  const back = step(0);
  await sleep(random.between(0, 1_500));
  if (random.chance(0.4)) return { since: Date.now(), after: `${there} and ${back}` };
  const killed = await killSome(scene, 1);
  return { since: killed.since, after: `${there}, ${back}, and ${killed.after}` };
}
