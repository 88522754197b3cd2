import { connect, type Socket } from 'node:net';
import type { Figures } from '../figures.js';
import type { ServedNode } from '../served-node.js';
import { sleep } from '../world.js';
import type { WeatherActor } from './actor.js';

/**
 * What a node may have beside what it has under this load: about 110 that it keeps for itself, and some connections.
 */
const SPARE = 180;
/** A start opens modules side by side: nearly all of them at once when the disk is slow. */
const LEAST = 800;

/** It must be well so soon after the connections are gone. */
const WELL_MS = 5_000;
const LOOK_MS = 100;

/**
 * A node is started with few descriptors, connections are opened until it has none left, and closed again. When it is
 * well again, it is killed and started with as many as before: what the clients need grows, and with few descriptors
 * they would use them up by themselves.
 */
export const descriptors: WeatherActor = {
  name: 'descriptors',
  about: 'a node is started with few descriptors (ulimit -n), and connections use them up for some seconds',
  share: 1,
  misses: () => (process.platform === 'linux' ? null : 'descriptors are counted under /proc'),
  async play({ site, figures, random, nodes: [node] }) {
    const limit = Math.max(LEAST, node.openDescriptors + SPARE);
    node.limitDescriptors(limit);
    // From its start on: the clients alone may need all that it has.
    node.setFull(true);
    await node.kill();
    await site.startNode(node);
    await sleep(random.between(500, 2_000));
    figures.count('floods');
    site.weather.begin(node.name);
    const sockets = await flood(node, limit);
    await sleep(random.between(1_500, 4_000));
    for (const socket of sockets) socket.destroy();
    await watchRecovery(node, figures);
    node.limitDescriptors(undefined);
    await node.kill();
    await site.startNode(node);
    site.weather.clear();
    node.setFull(false);
    const after = `a use-up of the ${String(limit)} descriptors of ${node.name}`;
    return { since: Date.now(), after };
  },
};

/** It must serve again by itself. */
async function watchRecovery(node: ServedNode, figures: Figures): Promise<void> {
  for (let waited = 0; waited < WELL_MS; waited += LOOK_MS) {
    if (await node.isHealthy()) return;
    await sleep(LOOK_MS);
  }
  if (node.isRunning)
    figures.fault('unwell', `${node.name} ${String(WELL_MS)} ms after its descriptors were free`);
}

/** Opens more connections than the node has descriptors for, and begins a request on some of them. */
async function flood(node: ServedNode, limit: number): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(node.base);
  const sockets: Socket[] = [];
  for (let n = 0; n < limit + 50; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    if (n % 3 === 0) socket.write('GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n');
    sockets.push(socket);
    if (n % 20 === 0) await sleep(5);
  }
  return sockets;
}
