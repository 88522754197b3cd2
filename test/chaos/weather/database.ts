import type { Site } from '../site.js';
import type { Database } from '../services/database.js';
import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';

const LEASE_MS = 6_000;
const misses = ({ database }: Site): string | null => (database === null ? 'there is no PostgreSQL' : null);

/** All connections to PostgreSQL are ended, from within. */
export const cut: WeatherActor = {
  name: 'cut',
  about: 'all connections to PostgreSQL are ended',
  share: 1,
  misses,
  async play({ site, figures, random }) {
    const times = random.integer(1, 3);
    figures.count('databaseCuts', times);
    site.weather.begin(null);
    for (let time = 0; time < times; time++) {
      await databaseOf(site).cutConnections();
      await sleep(random.between(0, 700));
    }
    site.weather.clear();
    return { since: Date.now(), after: 'a cut of the connections to PostgreSQL' };
  },
};

/** One node alone cannot reach the store: its packets vanish, or its connections are refused. */
export const partition: WeatherActor = {
  name: 'partition',
  about: 'one node cannot reach PostgreSQL, mostly for longer than a lease',
  share: 1,
  misses,
  async play({ site, figures, random, watch, nodes }) {
    const [node, ...others] = nodes;
    const proxy = site.proxyOf(node);
    const isSilent = random.chance(0.6);
    const milliseconds = random.chance(0.3) ? random.between(300, 4_000) : random.between(8_500, 12_000);
    figures.count('partitions');
    site.weather.begin(node.name);
    const since = Date.now();
    const after = `a ${isSilent ? 'silent' : 'refusing'} partition of ${node.name}`;
    if (isSilent) proxy.stall();
    else await proxy.cut();
    const isLong = milliseconds > LEASE_MS && others.length > 0;
    const taken = isLong ? watch(since, `the beginning of ${after}`, node) : Promise.resolve();
    await sleep(milliseconds);
    await proxy.restore();
    site.weather.clear();
    const restoredAt = Date.now();
    await taken;
    return { since: restoredAt, after };
  },
};

/** PostgreSQL stops, in order or as by a crash, and starts again; at times a node dies while it is away. */
export const databaseRestart: WeatherActor = {
  name: 'database',
  about: 'PostgreSQL is stopped and started, at times with a kill of a node between',
  share: 1,
  misses,
  async play({ site, figures, random, nodes: [node] }) {
    const { server } = databaseOf(site);
    const isOrderly = random.chance(0.5);
    const isKilled = random.chance(0.4);
    figures.count('databaseRestarts');
    site.weather.begin(null);
    if (server !== null) await server.stop(isOrderly);
    else await Promise.all(site.nodes.map((each) => site.proxyOf(each).cut()));
    await sleep(random.between(0, random.chance(0.3) ? 9_000 : 3_000));
    if (isKilled) await node.kill();
    if (server !== null) await server.start();
    else await Promise.all(site.nodes.map((each) => site.proxyOf(each).restore()));
    site.weather.clear();
    const what = `${isOrderly ? 'an orderly' : 'a sudden'} restart of PostgreSQL`;
    return { since: Date.now(), after: what + (isKilled ? ` and a kill of ${node.name}` : '') };
  },
};

function databaseOf({ database }: Site): Database {
  if (database === null) throw new Error('there is no PostgreSQL');
  return database;
}
