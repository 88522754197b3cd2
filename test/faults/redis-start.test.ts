import { randomBytes, randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Place } from '../cli/running.js';
import { ownServer, type OwnServer } from '../support/own-server.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { describeWithRedis } from '../support/redis.js';
import { openStream } from '../support/sse.js';

// Servers start and stop: on a busy machine that takes its time.
jest.setTimeout(240_000);

/** The command, which this machine may lack though a Redis is within reach. */
const hasCommand = spawnSync('redis-server', ['--version']).status === 0;
const missing = hasCommand ? null : 'there is no command redis-server';
if (missing !== null && process.env.CI === 'true') throw new Error(missing);
if (missing !== null) process.stderr.write(`skipped: ${missing}\n`);

describeWithRedis('nodes that are started without Redis', () => {
  describeWithPostgres('on PostgreSQL', () => {
    const database = testDatabase();
    let place: Place;
    let redis: OwnServer;

    beforeEach(async () => {
      place = new Place();
      redis = await ownServer({
        command: 'redis-server',
        args: (port) => ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
        ready: 'Ready to accept connections',
        signal: 'SIGTERM',
      });
    });
    afterEach(async () => {
      await place.clear();
      await redis.stop();
    });

    (hasCommand ? it : it.skip)('serve, and are joined once it is there', async () => {
      const env = {
        DATABASE_URL: await database.newUrl(),
        SECRETS_KEY: randomBytes(32).toString('base64'),
        REDIS_URL: `redis://127.0.0.1:${String(redis.port)}`,
        DEMO_TOKEN_MS: '20',
      };
      const nodes = await Promise.all([place.serve(env), place.serve(env)]);
      const [one, other] = nodes;
      for (const { running, url } of nodes) {
        await running.says('Redis is unavailable');
        expect((await fetch(`${url}/api/health`)).status).toBe(200);
      }
      const headers = { 'X-Session-Id': randomUUID() };
      const stream = await openStream(`${other.url}/api/updates?include=turns`, { headers });
      await fetch(`${one.url}/api/chat?message=Hello`, { method: 'POST', headers });
      // By the store alone.
      await stream.until(({ events }) => events.some(({ data }) => data.includes('title_changed')));

      await redis.start();
      for (const { running } of nodes) await running.says('Redis is available again');
      const seen = stream.events.length;
      await fetch(`${one.url}/api/chat?message=${encodeURIComponent('count from 1 to 20')}`, {
        method: 'POST',
        headers,
      });
      // Only the bus signals to another node that a turn has begun and has ended.
      const hears = (type: string) => () =>
        stream.events.slice(seen).some(({ data }) => data.includes(`"type":"${type}"`));
      await stream.until(hears('turn_started'));
      await stream.until(hears('turn_ended'));

      await redis.stop();
      for (const { running, url } of nodes) {
        expect((await fetch(`${url}/api/health`)).status).toBe(200);
        running.child.kill('SIGTERM');
        expect(await running.ended).toBe(0);
      }
      stream.close();
    });
  });
});
