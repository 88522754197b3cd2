import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createClient } from '../../src/client/index.js';
import { linked } from '../../src/client/pacing.js';
import { answering, closeAnswering } from '../support/answering.js';
import { Gate } from '../support/gate.js';

afterEach(closeAnswering);

describe('linked', () => {
  it('aborts with the first of the signals, for its reason', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const life = linked(first.signal, undefined, second.signal);
    expect(life.signal.aborted).toBe(false);
    second.abort('two');
    first.abort('one');
    expect([life.signal.aborted, life.signal.reason]).toEqual([true, 'two']);
    expect(linked(new AbortController().signal, first.signal).signal.reason).toBe('one');
  });

  it('aborts no other that follows the same signals', () => {
    const outer = new AbortController();
    const [one, other] = [linked(outer.signal), linked(outer.signal)];
    one.abort('done');
    expect([one.signal.reason, other.signal.aborted]).toEqual(['done', false]);
    outer.abort('all');
    expect([one.signal.reason, other.signal.reason]).toEqual(['done', 'all']);
  });

  it('listens once to a signal that many follow', () => {
    const { signal } = new AbortController();
    const lives = Array.from({ length: 20 }, () => linked(signal));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    for (const life of lives) life.abort();
    linked(signal).abort();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  });
});

describe('a client that is asked many times at once', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('gives no signal more listeners than Node allows', async () => {
    const listened = jest.spyOn(EventTarget.prototype, 'addEventListener');
    const sending = new Gate();
    let sent = 0;
    const port = await answering((res, { url = '' }) => {
      if (url.includes('/updates'))
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
      else if (!url.includes('/chat')) res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      // Without a response, so that all messages are being sent at the same time.
      else if (++sent === 12) sending.open();
    });
    const client = createClient({ url: `http://127.0.0.1:${String(port)}` });
    const { signal } = new AbortController();
    const asked = Array.from({ length: 12 }, async () => {
      for await (const _ of client.ask('Hello', { signal }));
    });
    await sending.passed;
    const signals = new Set(listened.mock.contexts.filter((target) => target instanceof AbortSignal));
    const counts = [...signals].map((one) => getEventListeners(one, 'abort').length);
    expect(counts.length).toBeGreaterThan(12);
    expect(Math.max(...counts)).toBeLessThan(11);
    client.close();
    const ends = await Promise.allSettled(asked);
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['rejected']));
  });
});
