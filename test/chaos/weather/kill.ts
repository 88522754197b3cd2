import { sleep } from '../world.js';
import type { Scene, WeatherActor } from './actor.js';

/** SIGKILL, several times: also in the seconds in which the turns of the last kill are taken over. */
export const kill: WeatherActor = {
  name: 'kill',
  about: 'SIGKILL, also in the recovery from another',
  share: 3,
  misses: () => null,
  play: (scene) => killSome(scene, scene.kills),
};

/** Kills nodes so often, and starts some of them between. The last one is down when it returns. */
export async function killSome(
  { site, figures, random }: Scene,
  kills: number,
): Promise<{ since: number; after: string }> {
  let last = { since: Date.now(), after: 'no kill' };
  for (let n = 0; n < kills; n++) {
    if (n > 0) {
      figures.count('doubleKills');
      // Before, in or after the seconds in which leases run out and turns are taken over.
      await sleep(random.between(0, random.chance(0.6) ? 400 : 7_000));
      if (random.chance(0.7)) await site.startAll();
    }
    const running = site.nodes.filter(({ isRunning }) => isRunning);
    if (running.length === 0) await site.startAll();
    const from = running.length === 0 ? site.nodes : running;
    const node = from[random.integer(0, from.length - 1)];
    if (node === undefined) throw new Error('there are no nodes');
    last = { since: Date.now(), after: `${String(n + 1)} kills, the last of ${node.name}` };
    await node.kill();
  }
  // Without a node there is nobody who could go on.
  if (!site.nodes.some(({ isRunning }) => isRunning)) {
    await site.startAll();
    return { ...last, since: Date.now() };
  }
  return last;
}
