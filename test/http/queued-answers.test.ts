import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { closeWithConnection } from '../../src/http/queued-answers.js';
import { connected, type Connected } from '../support/connected.js';

let server: Server;
let both: Connected;
/** The answers, in the order of their requests, and those that have the connection or had it. */
let answers: ServerResponse[];
let onTurn: ServerResponse[];

beforeEach(async () => {
  [answers, onTurn] = [[], []];
  server = createServer((req, res) => {
    closeWithConnection(req, res, (begun) => onTurn.push(begun));
    answers.push(res);
    server.emit('asked');
  });
  both = await connected(server);
});

afterEach(() => both.close());

/** Asks so many times at once. */
async function ask(times: number): Promise<void> {
  both.client.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n'.repeat(times));
  while (answers.length < times) await once(server, 'asked');
}

describe('answers that wait for their turn on a connection', () => {
  it('close with it, each once', async () => {
    await ask(12);
    const closes = answers.map(() => 0);
    const all = new Promise<void>((resolve) => {
      for (const [at, res] of answers.entries())
        res.on('close', () => {
          closes[at] = (closes[at] ?? 0) + 1;
          if (closes.every((count) => count > 0)) resolve();
        });
    });
    both.client.destroy();
    await all;
    for (const res of answers) {
      expect([res.closed, res.destroyed, res.writableFinished]).toEqual([true, true, false]);
      // Whoever answers late harms nobody.
      res.end('late');
    }
    expect(closes).toEqual(answers.map(() => 1));
  });

  it('are answered in order, and closed by Node when they are over', async () => {
    await ask(3);
    expect(onTurn).toEqual(answers.slice(0, 1));
    const closed = answers.map((res) => once(res, 'close'));
    for (const [at, res] of [...answers.entries()].reverse()) res.end(`answer ${String(at)}`);
    await Promise.all(closed);
    expect(onTurn).toEqual(answers);
    while (!both.received().includes('answer 2')) await once(both.client, 'data');
    expect(both.received().match(/answer \d/g)).toEqual(['answer 0', 'answer 1', 'answer 2']);
  });
});
