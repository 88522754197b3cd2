import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Store } from '../../src/core/ports/store.js';
import { end, record, send, sendAndClaim } from '../contracts/store-fixtures.js';
import { openHouse, type House } from '../support/house.js';
import { openStore, type Answer } from '../support/http.js';
import { messagesOf } from '../support/snapshot.js';

/** A store that notes how many records each read of a thread gave. */
function counting(store: Store): { readonly store: Store; readonly reads: string[] } {
  const reads: string[] = [];
  const note = (name: string, records: number) => reads.push(`${name}: ${String(records)}`);
  const counted: Store = {
    ...store,
    async loadThread(id, part) {
      const thread = await store.loadThread(id, part);
      if (typeof thread !== 'string') note('loadThread', thread.settled.length);
      return thread;
    },
    async loadTail(id, count) {
      const tail = await store.loadTail(id, count);
      if (typeof tail !== 'string') note('loadTail', tail.messages.length);
      return tail;
    },
    async readMessages(id, page) {
      const found = await store.readMessages(id, page);
      if (typeof found !== 'string') note('readMessages', found.messages.length);
      return found;
    },
  };
  return { store: counted, reads };
}

let reads: string[];
let store: Store;
let house: House;
let session: string;

beforeEach(async () => {
  const counted = counting(await openStore('sqlite'));
  ({ store, reads } = counted);
  house = await openAnother();
  session = randomUUID();
  const turn = await sendAndClaim(store, session, { text: 'the first', set: { userState: STATE } });
  await end(store, turn, { messages: [record(turn, 1)] });
  const long = await sendAndClaim(store, session, { text: 'and more' });
  await end(store, long, { messages: Array.from({ length: 300 }, (_, index) => record(long, index + 1)) });
  reads.length = 0;
});
afterEach(async () => {
  await house.close();
  await store.close();
});

const STATE = { tree: { evm: { chain_id: 1 } }, flat: false };

/** Serves the store by another process, whose memory has no threads. */
function openAnother(): Promise<House> {
  return openHouse({ store, settings: { maxSessionBytes: 3_000 }, surfaces: ['current', 'legacy', 'field'] });
}

function ask(path: string): Promise<Answer> {
  return house.ask('GET', path, { session });
}

describe('a thread that memory does not have', () => {
  it('is read no further than `tail` shows, and counted all the same', async () => {
    const { json, headers } = await ask('/api/state?tail=2');
    expect(messagesOf(json).map(({ content }) => content)).toEqual(['answer 2.299', 'answer 2.300']);
    expect(headers.get('x-total-messages')).toBe('303');
    expect(reads).toEqual(['loadTail: 2']);
  });

  it('is read no further when the state that is sent along changes nothing', async () => {
    const state = encodeURIComponent(JSON.stringify(STATE.tree));
    const { json } = await ask(`/api/state?tail=1&user_state=${state}`);
    expect(messagesOf(json).map(({ content }) => content)).toEqual(['answer 2.300']);
    expect(reads).toEqual(['loadTail: 0', 'loadTail: 1']);
  });

  it('has the same tail, count and tag as one that memory has', async () => {
    const cold = await ask('/api/state?tail=3');
    await ask('/api/state');
    expect(reads).toEqual(['loadTail: 3', 'loadThread: 303']);
    const warm = await ask('/api/state?tail=3');
    expect(warm.text).toBe(cold.text);
    for (const name of ['etag', 'x-total-messages', 'x-event-cursor']) {
      expect(warm.headers.get(name)).toBe(cold.headers.get(name));
    }
    expect(reads).toHaveLength(2);
  });

  it('shows the words in flight of a turn that runs elsewhere behind its records, before what waits', async () => {
    const running = await sendAndClaim(store, session, { text: 'go on' });
    await store.saveProgress(running, { messages: [], events: [], partialText: 'half an answ' }, 1);
    await send(store, session, { text: 'waits' });
    reads.length = 0;
    const { json, headers } = await ask('/api/state?tail=3');
    expect(messagesOf(json)).toMatchObject([
      { content: 'go on', is_streaming: false },
      { content: 'half an answ', is_streaming: true },
      { content: 'waits', is_streaming: false },
    ]);
    expect(json).toMatchObject({ is_processing: true });
    expect(headers.get('x-total-messages')).toBe('306');
    expect(reads).toEqual(['loadTail: 3']);
  });

  it('is read by the page of its records alone', async () => {
    const { json } = await ask(`/api/sessions/${session}/messages?limit=4`);
    expect(json).toMatchObject({ has_more: true });
    expect(reads).toEqual(['loadTail: 0', 'readMessages: 4']);
  });

  it('is not read for its title', async () => {
    expect((await ask(`/api/sessions/${session}`)).status).toBe(200);
    expect(reads.filter((read) => read.startsWith('loadThread'))).toEqual([]);
  });

  it('that was deleted is created again by a new state, like a small one', async () => {
    await store.deleteSession(session, 1);
    expect((await ask('/api/state?tail=1')).status).toBe(404);
    const { status, json } = await ask(`/api/state?tail=1&user_state=${encodeURIComponent('{"a":1}')}`);
    expect([status, json]).toMatchObject([200, { messages: [], user_state: { a: 1 } }]);
  });
});

describe('a thread of 10,000 messages with failed turns on the field surface', () => {
  const FAILURE = 'The model is out of order.';
  const CLIENT = 'client_id=a-long-enough-client';

  beforeEach(async () => {
    for (let no = 0; no < 4; no++) {
      const turn = await sendAndClaim(store, session, { text: `try ${String(no)}` });
      const reason = record(turn, 2_423, { role: 'system', content: FAILURE });
      const steps = Array.from({ length: 2_422 }, (_, index) => record(turn, index + 1));
      await end(store, turn, { outcome: 'failed', messages: [...steps, reason] });
    }
    reads.length = 0;
  });

  it('is read no further than `tail` shows, and has the same bytes and headers as one that memory has', async () => {
    const askForAll = () =>
      Promise.all([0, 1, 2, 3, 2_430].map((tail) => ask(`/field/api/state?tail=${String(tail)}`)));
    const cold = await askForAll();
    expect(reads.sort()).toEqual([0, 1, 2, 2_430, 3].map((tail) => `loadTail: ${String(tail)}`));
    const whole = messagesOf((await ask('/field/api/state')).json);
    expect(whole).toHaveLength(10_003);
    const warm = await askForAll();
    expect(reads).toHaveLength(6);
    for (const [index, { text, json, headers }] of cold.entries()) {
      expect(messagesOf(json)).toEqual(whole.slice(whole.length - messagesOf(json).length));
      expect(headers.get('x-total-messages')).toBe('10003');
      expect(warm[index]?.text === text).toBe(true);
      for (const name of ['etag', 'x-total-messages', 'x-event-cursor'])
        expect(warm[index]?.headers.get(name)).toBe(headers.get(name));
    }
    expect(cold.map(({ json }) => messagesOf(json).length)).toEqual([0, 1, 2, 3, 2_430]);
    expect((await ask('/api/state')).headers.get('x-total-messages')).toBe('9999');
  });

  it('is read no further for a client that sends its id and state along', async () => {
    const path = `/field/api/state?tail=2&${CLIENT}&user_state=${encodeURIComponent('{"a":1}')}`;
    await ask(path);
    await house.close();
    house = await openAnother();
    reads.length = 0;
    const { json, headers } = await ask(path);
    expect(messagesOf(json)).toMatchObject([
      { sender: 'system', content: FAILURE },
      { sender: 'agent', content: FAILURE },
    ]);
    expect(headers.get('x-total-messages')).toBe('10003');
    expect(new Set(reads)).toEqual(new Set(['loadTail: 0', 'loadTail: 2']));
  });
});

describe('a thread that is full', () => {
  const message = 'x'.repeat(100);

  it('refuses messages on either surface, explains how to free space, and stores nothing', async () => {
    const before = await store.revisionOf(session);
    const current = await house.ask('POST', `/api/chat?message=${message}`, { session });
    expect([current.status, current.json]).toMatchObject([
      413,
      {
        code: 'full',
        error: expect.stringMatching(/holds \d+ bytes of text.*more than 3000: go on in another session/),
      },
    ]);
    const body = JSON.stringify({ text: message });
    const legacy = await house.ask('POST', '/legacy/api/thread/chat', {
      session,
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect([legacy.status, legacy.json]).toEqual([
      413,
      { error: expect.stringContaining('go on in another session') },
    ]);
    expect(await store.revisionOf(session)).toBe(before);
  });

  it('keeps the answer of the turn that fills it', async () => {
    const other = randomUUID();
    const sent = house.ask('POST', '/api/chat?message=tell', {
      session: other,
      headers: { Prefer: 'wait=60' },
    });
    (await house.rig.next()).text('y'.repeat(5_000)).end();
    expect(messagesOf((await sent).json).map(({ content }) => content)).toEqual(['tell', 'y'.repeat(5_000)]);
    expect((await house.ask('POST', '/api/chat?message=more', { session: other })).status).toBe(413);
  });
});
