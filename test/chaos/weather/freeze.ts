import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';
import { killSome } from './kill.js';

/** A node is stopped for longer than its leases (6 s) and continued: what it then still writes comes too late. */
export const freeze: WeatherActor = {
  name: 'freeze',
  about: 'SIGSTOP for longer than a lease, then SIGCONT; at times another node is killed before',
  share: 1,
  misses: () => null,
  async play(scene) {
    const { site, figures, random, nodes, watch } = scene;
    const [node, ...others] = nodes;
    const milliseconds = random.chance(0.2) ? random.between(500, 5_000) : random.between(6_500, 11_000);
    const after = `a stop of ${node.name} for ${(milliseconds / 1000).toFixed(1)} s`;
    figures.count('freezes');
    // What it had asked of the store has timed out when it continues.
    site.weather.begin(node.name);
    const since = Date.now();
    await node.freeze();
    const isLong = milliseconds > 6_000 && others.length > 0;
    const taken = isLong ? watch(since, `the beginning of ${after}`, node) : Promise.resolve();
    await sleep(milliseconds);
    node.thaw();
    site.weather.clear();
    const thawed = { since: Date.now(), after };
    await taken;
    if (!random.chance(0.4)) return thawed;
    await sleep(random.between(0, 1_500));
    const killed = await killSome(scene, 1);
    return { since: killed.since, after: `${after} and ${killed.after}` };
  },
};
