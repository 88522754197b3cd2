import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import express, { type Response } from 'express';
import { isFull } from '../../src/http/sse/backpressure.js';
import {
  createStreams,
  type StreamOptions,
  type StreamSource,
  type Streams,
} from '../../src/http/sse/streams.js';
import { connectTo } from '../support/raw.js';
import { openStream } from '../support/sse.js';

/** A feed that the test fills. */
class TestFeed implements StreamSource<string> {
  overflowed = false;
  closed = false;
  readonly #items: (string | Error)[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  push(...items: (string | Error)[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  overflow(): void {
    this.overflowed = true;
    this.close();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  close(): void {
    this.closed = true;
    this.#items.length = 0;
    this.end();
  }

  async each(take: (item: string) => Promise<void> | undefined): Promise<void> {
    for (;;) {
      const item = this.#items.shift();
      if (item instanceof Error) throw item;
      if (item !== undefined) await take(item);
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

let server: Server;
let streams: Streams;
let feed: TestFeed;
let url: string;
let over: Promise<unknown>;
let response: Response;

async function serve(keepAliveMs: number, options?: StreamOptions): Promise<void> {
  streams = createStreams({ keepAliveMs });
  feed = new TestFeed();
  const app = express();
  app.use((req, res) => {
    response = res;
    const frame = (text: string) => (text === 'hidden' ? undefined : `data: ${text}\n\n`);
    over = streams.stream(req, res, feed, frame, options).catch((error: unknown) => error);
  });
  server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}`;
}

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('a stream', () => {
  it('writes what is shown, and ends with its feed and its last words', async () => {
    await serve(0, { lastWords: () => 'data: bye\n\n' });
    const stream = await openStream(url);
    feed.push('one', 'hidden', 'two');
    feed.end();
    expect(await stream.end()).toBe('data: one\n\ndata: two\n\ndata: bye\n\n');
  });

  it('is open until its feed has ended', async () => {
    await serve(0);
    const stream = await openStream(url);
    expect(streams.isOpen(response)).toBe(true);
    feed.end();
    await stream.end();
    await over;
    expect(streams.isOpen(response)).toBe(false);
  });

  it('leaves no listeners behind', async () => {
    await serve(0);
    const stream = await openStream(url);
    const during = response.listenerCount('drain') + response.listenerCount('close');
    feed.end();
    await stream.end();
    await over;
    expect(response.listenerCount('drain') + response.listenerCount('close')).toBe(during - 1);
  });

  it('closes its feed when the client goes', async () => {
    await serve(0);
    const stream = await openStream(url);
    feed.push('one');
    await stream.until(({ bytes }) => bytes !== '');
    stream.close();
    expect(await over).toBeUndefined();
    expect(feed.closed).toBe(true);
  });

  it('passes on what its feed throws, after its last words', async () => {
    await serve(0, { lastWords: () => 'data: sorry\n\n' });
    const stream = await openStream(url);
    const failure = new Error('the store is gone');
    feed.push('one', failure);
    expect(await stream.end()).toBe('data: one\n\ndata: sorry\n\n');
    expect(await over).toBe(failure);
  });

  it('answers HEAD without touching the feed', async () => {
    await serve(0);
    const { status, headers } = await fetch(url, { method: 'HEAD' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(feed.closed).toBe(true);
  });

  it('sends a comment immediately when nothing may happen for a while', async () => {
    await serve(0, { opening: true });
    const stream = await openStream(url);
    await stream.until(({ bytes }) => bytes === ': keep-alive\n\n');
    feed.push('one');
    feed.end();
    expect(await stream.end()).toBe(': keep-alive\n\ndata: one\n\n');
  });

  it('sends a comment after silence, again and again', async () => {
    await serve(20);
    const stream = await openStream(url);
    await stream.until(({ bytes }) => bytes === ': keep-alive\n\n: keep-alive\n\n: keep-alive\n\n');
    expect(stream.events).toEqual([]);
    feed.end();
    await stream.end();
  });

  it('sends it also when the wall clock is set back', async () => {
    await serve(20);
    const stream = await openStream(url);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    try {
      await stream.until(({ bytes }) => bytes.endsWith(': keep-alive\n\n: keep-alive\n\n: keep-alive\n\n'));
    } finally {
      clock.mockRestore();
    }
    feed.end();
    await stream.end();
  });

  it('waits for a slow client instead of piling up, and cuts it off once the feed overflows', async () => {
    await serve(15_000);
    const socket = connectTo(url);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    const chunk = 'x'.repeat(65_536);
    let pushed = 0;
    while (!isFull(response)) {
      feed.push(chunk);
      pushed++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let i = 0; i < 100; i++) feed.push(chunk);
    await new Promise((resolve) => setImmediate(resolve));
    expect(response.writableLength).toBeLessThan(10 * 65_536);
    expect(pushed).toBeGreaterThan(0);
    feed.overflow();
    await over;
    expect(response.destroyed).toBe(true);
    socket.destroy();
  });

  it('goes on when a slow client reads again', async () => {
    await serve(15_000);
    const socket = connectTo(url);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    socket.pause();
    const chunk = 'x'.repeat(65_536);
    let pushed = 0;
    while (!isFull(response)) {
      feed.push(chunk);
      pushed++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    feed.push('the end');
    feed.end();
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.resume();
    await over;
    while (!received.includes('the end')) await once(socket, 'data');
    expect(received.split('x'.repeat(1000)).length).toBeGreaterThan(pushed);
    socket.destroy();
  });

  it('ends with all others on demand', async () => {
    await serve(0);
    const stream = await openStream(url);
    streams.endAll();
    expect(await stream.end()).toBe('');
    expect(feed.closed).toBe(true);
  });
});
