import type { OwnRedis } from '../services/own-redis.js';
import type { Site } from '../site.js';
import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';

const misses = ({ redis }: Site): string | null => (redis === null ? 'there is no Redis' : null);

/** Redis goes away for some seconds, or freezes. */
export const redisAway: WeatherActor = {
  name: 'redis',
  about: 'Redis is stopped and started, or freezes',
  share: 1,
  misses,
  async play({ site, figures, random }) {
    const redis = redisOf(site);
    const isFrozen = random.chance(0.35);
    figures.count(isFrozen ? 'redisFreezes' : 'redisStops');
    if (isFrozen) redis.freeze();
    else await redis.stop(random.pick(['SIGTERM', 'SIGKILL']));
    await sleep(random.between(200, isFrozen ? 11_000 : 4_000));
    if (isFrozen) redis.thaw();
    else await redis.start();
    return { since: Date.now(), after: isFrozen ? 'a frozen Redis' : 'a restart of Redis' };
  },
};

/** Redis and a node are lost at once, as if they had shared a machine: turns are taken over with nobody who says so. */
export const redisAndNode: WeatherActor = {
  name: 'redis-and-node',
  about: 'Redis and a node are killed at once, another node perhaps before Redis is back',
  share: 2,
  misses,
  async play({ site, figures, random, watch, nodes: [node, second] }) {
    const redis = redisOf(site);
    figures.count('redisAndNode');
    const since = Date.now();
    await Promise.all([redis.stop('SIGKILL'), node.kill()]);
    const after = `a loss of Redis together with ${node.name}`;
    const restarted = random.chance(0.5)
      ? sleep(random.between(0, 3_000)).then(() => site.startNode(node))
      : Promise.resolve();
    if (second !== undefined && random.chance(0.3)) {
      await sleep(random.between(0, 4_000));
      figures.count('doubleKills');
      const killedAt = Date.now();
      await second.kill();
      await restarted;
      await site.startAll();
      await watch(killedAt, `${after}, then of ${second.name}`);
    } else if (second !== undefined && random.chance(0.7))
      await watch(since, `${after}, which is still away`, node);
    await restarted;
    await redis.start();
    return { since: Date.now(), after };
  },
};

function redisOf({ redis }: Site): OwnRedis {
  if (redis === null) throw new Error('there is no Redis');
  return redis;
}
