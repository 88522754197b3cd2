import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Lane, requestBytes } from '../load/lane.js';
import { cpuSeconds, residentBytes, sleep } from '../machine.js';
import { medians, type Context, type Outcome, type Row } from '../row.js';
import { startProduct, startProgram, type Server } from '../servers.js';

/** How many idle streams are opened, and how many of them at a time. */
const STREAMS = 5000;
const AT_ONCE = 100;
/** As many streams as a session may have open. */
export const STREAMS_OF_SESSION = 100;
const KIB = 1024;
/** How long a server gets to come to rest, in milliseconds. */
export const REST_MS = 1500;

/** Streams that are open, with how often the mark of an event came on all of them together. */
export class OpenStreams {
  events = 0;
  #onEvent: () => void = () => undefined;
  readonly #sockets: Socket[] = [];

  /** @param sessionOf names the session of each stream */
  static async open(
    server: Server,
    count: number,
    sessionOf: (index: number) => string,
  ): Promise<OpenStreams> {
    const streams = new OpenStreams();
    for (let from = 0; from < count; from += AT_ONCE) {
      const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => sessionOf(from + at));
      await Promise.all(some.map((id) => streams.#add(server.port, id)));
    }
    return streams;
  }

  #add(port: number, id: string): Promise<void> {
    const headers = { Accept: 'text/event-stream', 'X-Session-Id': id };
    const socket = connect(port, '127.0.0.1');
    this.#sockets.push(socket);
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.write(requestBytes('GET', '/api/updates', headers));
      socket.once('data', (head) => {
        if (!head.includes('200 OK')) reject(new Error(head.toString()));
        socket.on('data', (chunk) => {
          this.#take(chunk);
        });
        resolve();
      });
    });
  }

  #take(chunk: Buffer): void {
    for (let at = chunk.indexOf('title_changed'); at !== -1; at = chunk.indexOf('title_changed', at + 1)) {
      this.events++;
      this.#onEvent();
    }
  }

  /** Resolves when so many events have come in all. */
  until(events: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onEvent = () => {
        if (this.events >= events) resolve();
      };
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function memory(context: Context): Promise<readonly Outcome[]> {
  const rounds: number[][] = [];
  for (let round = 0; round < (context.pace.isQuick ? 1 : context.pace.rounds); round++) {
    const product = await startProduct({ upstream: context.upstreamUrl });
    const raw = await startProgram('raw-sse');
    rounds.push([await memoryOfStreams(product), await memoryOfStreams(raw)]);
    await Promise.all([product.end(), raw.end()]);
  }
  const figures = medians(rounds);
  const row = `resident memory per idle stream, ${String(STREAMS)} of them ÷ raw`;
  const got = figures.product / figures.against;
  return [{ row, unit: 'KiB', ...figures, got, required: 1.5, aim: 1.25, better: 'less', rounds }];
}

/** In KiB, each stream of a session of its own. The first thousand make what is made once, and are not counted. */
async function memoryOfStreams(server: Server): Promise<number> {
  const first = await OpenStreams.open(server, 1000, () => randomUUID());
  await sleep(REST_MS);
  const before = residentBytes(server.pid);
  const streams = await OpenStreams.open(server, STREAMS, () => randomUUID());
  await sleep(REST_MS);
  const after = residentBytes(server.pid);
  streams.close();
  first.close();
  return (after - before) / KIB / STREAMS;
}

async function fanOut(context: Context): Promise<readonly Outcome[]> {
  const product = await startProduct({ upstream: context.upstreamUrl });
  const raw = await startProgram('raw-sse');
  const sides = [];
  for (const server of [product, raw]) {
    const id = randomUUID();
    const lane = await Lane.open(server.port);
    const headers = { 'X-Session-Id': id, 'Content-Type': 'application/json' };
    await lane.ask(requestBytes('POST', '/api/sessions', headers, '{"title":""}'));
    const streams = await OpenStreams.open(server, STREAMS_OF_SESSION, () => id);
    sides.push({ server, lane, streams, id, headers });
  }
  const rounds: number[][] = [];
  for (let round = 0; round <= context.pace.rounds; round++) {
    const pair: number[] = [];
    for (const side of sides) pair.push(await deliver(side, context.pace.isQuick ? 250 : 1000));
    // The first round only warms up.
    if (round > 0) rounds.push(pair);
  }
  for (const { streams, lane } of sides) {
    streams.close();
    lane.close();
  }
  await Promise.all([product.end(), raw.end()]);
  const figures = medians(rounds);
  const got = figures.product / figures.against;
  const row = `one event to ${String(STREAMS_OF_SESSION)} streams ÷ raw`;
  return [
    { row, unit: 'deliveries/CPU-s', ...figures, got, required: 0.7, aim: 0.9, better: 'more', rounds },
  ];
}

/** Sends events one after another, each once the one before has arrived everywhere. Deliveries for each CPU second. */
async function deliver(
  side: { server: Server; lane: Lane; streams: OpenStreams; id: string; headers: Record<string, string> },
  events: number,
): Promise<number> {
  const { server, lane, streams, id, headers } = side;
  const cpu = cpuSeconds(server.pid);
  const before = streams.events;
  for (let n = 1; n <= events; n++) {
    const arrived = streams.until(streams.events + STREAMS_OF_SESSION);
    const body = JSON.stringify({ title: `Title ${String(Math.random())}` });
    await lane.ask(requestBytes('PATCH', `/api/sessions/${id}`, headers, body));
    await arrived;
  }
  return (streams.events - before) / (cpuSeconds(server.pid) - cpu);
}

export const streamRows: readonly Row[] = [
  { id: 'memory', run: memory },
  { id: 'fanout', run: fanOut },
];
