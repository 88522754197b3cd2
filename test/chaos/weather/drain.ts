import type { WeatherActor } from './actor.js';

/** SIGTERM, at times followed by SIGKILL before the drain is over. */
export const drain: WeatherActor = {
  name: 'drain',
  about: 'SIGTERM, which must end with exit code 0 in time, or SIGKILL in the middle of it',
  share: 1,
  misses: () => null,
  async play({ site, random, nodes: [node] }) {
    if (random.chance(0.4)) await node.killDraining(random.between(0, 1_200));
    else await node.drain();
    if (site.nodes.length === 1) await site.startAll();
    return { since: Date.now(), after: `the drain of ${node.name}` };
  },
};
