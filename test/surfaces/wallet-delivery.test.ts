import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../../src/core/model/json.js';
import type { Chains } from '../../src/core/ports/chains.js';
import type { Store } from '../../src/core/ports/store.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { startNodeProxy } from '../support/node-proxy.js';
import { testDatabase } from '../support/postgres.js';
import { listOf, messagesOf } from '../support/snapshot.js';
import {
  ANY,
  CHAIN,
  chainsAt,
  lastResult,
  lastingStore,
  sendFrom,
  WalletSession,
  type LastingStore,
} from '../support/wallet-house.js';

jest.setTimeout(60_000);

const database = testDatabase();
const WEI = 1n;

let anvil: Anvil;
let chains: Chains;
let wallet: string;
let friend: string;

let kept: LastingStore;
let store: Store;
let house: House;
let person: WalletSession;

beforeAll(async () => {
  anvil = await startAnvil(CHAIN);
  chains = chainsAt(anvil.url);
  const [first = '', second = ''] = anvil.accounts;
  [wallet, friend] = [first.toLowerCase(), second.toLowerCase()];
});
afterAll(() => anvil.close());

beforeEach(async () => {
  kept = await lastingStore(database);
  await start();
  person = await new WalletSession(house, house.rig, wallet).begin();
});
afterEach(async () => {
  await stop();
  kept.remove();
});

async function start(): Promise<void> {
  store = await kept.open();
  house = await openHouse({ apps: [testApp({ wallet: ANY })], chains, store });
}

async function stop(): Promise<void> {
  await house.close();
  await store.close();
}

const eventsIn = ({ system_events }: JsonObject): readonly unknown[] => listOf(system_events);

/** Runs a turn that requests a transaction on the legacy surface, whose responses carry no system events. */
async function requestByLegacy(): Promise<number> {
  const id = await person.stage(payment());
  const stream = await house.watch('/legacy/api/thread/chat', person.id, {
    method: 'POST',
    body: JSON.stringify({ text: 'Pay' }),
  });
  (await house.rig.next()).call(randomUUID(), 'request_transactions', { ids: [id] }).end();
  (await house.rig.next()).text('Please approve.').end();
  await stream.end();
  return id;
}

const payment = () => ({ to: friend, value: '1 wei' });

describe('an InlineCall', () => {
  it('goes to exactly one of two pollers, and never to HEAD', async () => {
    const id = await requestByLegacy();
    for (let n = 0; n < 3; n++) expect((await person.ask('HEAD', '/api/state')).status).toBe(200);
    await house.ask('GET', `/legacy/api/thread/state?session_id=${person.id}`);
    const polls = await Promise.all(Array.from({ length: 8 }, () => person.state()));
    const calls = polls.flatMap(eventsIn);
    expect(calls).toEqual([
      { InlineCall: { type: 'wallet_tx_request', payload: { tx_ids: [id], aa_preference: 'none' } } },
    ]);
    // All of them show what is pending.
    for (const { user_state } of polls)
      expect(objectOf(user_state ?? null).pending_txs).toHaveProperty(String(id));
  });

  it('comes with the response that waited for its turn', async () => {
    const { id, snapshot } = await person.request(payment());
    expect(eventsIn(snapshot)).toMatchObject([{ InlineCall: { payload: { tx_ids: [id] } } }]);
    expect(eventsIn(await person.state())).toEqual([]);
  });

  it('and what is pending change the tag of the state', async () => {
    const tag = async (known?: string) => {
      const headers: Record<string, string> = known === undefined ? {} : { 'If-None-Match': known };
      const { status, headers: got } = await person.ask('GET', '/api/state', undefined, headers);
      return [status, got.get('etag') ?? ''] as const;
    };
    const [, before] = await tag();
    const id = await requestByLegacy();
    await person.titled();
    const [changed] = await tag(before);
    const [, pending] = await tag();
    expect([changed, await tag(pending)]).toEqual([200, [304, pending]]);
    await person.complete([id], { status: 'failed' });
    expect((await tag(pending))[0]).toBe(200);
    await person.learn();
  });

  it('is not asked for twice when the model repeats its call', async () => {
    const id = await person.stage(payment());
    const first = await person.call('request_transactions', { ids: [id] });
    const again = await person.call('request_transactions', { ids: [id] });
    expect(objectOf(again).requested).toEqual(objectOf(first).requested);
    expect((await person.ask('GET', '/api/events')).json).toHaveLength(1);
  });
});

describe('the legacy surface', () => {
  it('shows a request as a call and an asynchronous result, byte for byte', async () => {
    const id = await person.stage(payment());
    const stream = await house.watch('/legacy/api/thread/chat', person.id, {
      method: 'POST',
      body: JSON.stringify({ text: 'Pay' }),
    });
    const asked = await house.rig.next();
    asked
      .text('So.')
      .call('c1', 'request_transactions', { ids: [id] })
      .end();
    const next = await house.rig.next();
    const result = lastResult(next.request);
    next.text('Please approve.').end();
    expect(await stream.end()).toBe(
      [
        '{"type":"text","content":"So."}',
        `{"type":"tool_call","name":"request_transactions","call_id":"c1","args":{"ids":[${String(id)}]}}`,
        `{"type":"async_tool_result","call_id":"c1","name":"request_transactions","result":${JSON.stringify(result)}}`,
        '{"type":"text","content":"Please approve."}',
        '{"type":"complete"}',
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    );
  });

  it('shows the turn in which the assistant learns the outcome, and nothing that is pending', async () => {
    const { id } = await person.request(payment());
    const path = `/legacy/api/thread/state?session_id=${person.id}`;
    const state = async () => objectOf((await house.ask('GET', path)).json);
    expect(Object.keys(objectOf((await state()).user_state ?? null))).toEqual([
      'address',
      'chain_id',
      'is_connected',
    ]);
    const txHash = await sendFrom(anvil.url, { from: wallet, to: friend, value: WEI });
    await person.complete([id], { status: 'success', txHash });
    expect((await state()).status).toBe('processing');
    const stream = await house.watch('/api/updates?include=turns', person.id);
    const words = await person.learn();
    await stream.until(({ bytes }) => bytes.includes('"type":"turn_ended"'));
    stream.close();
    const { status, messages } = await state();
    const said = messagesOf({ messages: messages ?? null }).map(({ sender, content }) => [sender, content]);
    expect([status, said.slice(-2)]).toEqual([
      'idle',
      [
        ['system', words],
        ['agent', 'I see.'],
      ],
    ]);
  });
});

describe('a node that is lost while it verifies an outcome', () => {
  it('leaves the turn to another one, which verifies it once', async () => {
    const { id } = await person.request(payment());
    const proxy = await startNodeProxy(anvil.url);
    const apps = [testApp({ wallet: ANY })];
    // Not started, it does not renew its lease.
    const dying = await openHouse({ apps, chains: chainsAt(proxy.url), store, settings: { leaseMs: 1 } });
    const txHash = await sendFrom(anvil.url, { from: wallet, to: friend, value: WEI });
    const hold = proxy.hold('eth_getTransactionByHash');
    const reporter = new WalletSession(dying, dying.rig, wallet, person.id);
    await reporter.complete([id], { status: 'success', txHash });
    await hold.asked;
    await house.core.start();
    const words = await person.learn();
    expect(words).toContain('confirmed');
    hold.release();
    await dying.close();
    await proxy.close();
    expect(dying.rig.asked).toEqual([]);
    const stream = await house.watch('/api/updates?include=turns&since=0', person.id);
    const { is_processing } = await person.state();
    if (is_processing === true) await stream.until(({ bytes }) => bytes.includes('"type":"turn_ended"'));
    stream.close();
    const said = messagesOf(await person.state()).map(({ content }) => content);
    expect(said.slice(-3)).toEqual([expect.stringContaining('not verified yet'), words, 'I see.']);
  });
});

describe('racing reports', () => {
  it('are one outcome and one turn', async () => {
    const { id } = await person.request(payment());
    const txHash = await sendFrom(anvil.url, { from: wallet, to: friend, value: WEI });
    const outcomes = [{ status: 'failed' }, { status: 'success', txHash }];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => person.complete([id], outcomes[n % 2] ?? {})),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const words = await person.learn();
    const ended = person.say('And now?');
    const { request } = (await house.rig.next()).text('Nothing.').end();
    await ended;
    // Whichever report came first, the model has read its outcome alone.
    const read = request.messages.flatMap((message) =>
      message.role === 'assistant'
        ? message.toolResults.filter(({ name }) => name === 'wallet_report').map(({ result }) => result)
        : [],
    );
    const before = words.includes('confirmed') ? [expect.stringContaining('not verified yet')] : [];
    expect(read).toEqual([...before, words]);
    expect(words).toMatch(/confirmed|rejected/);
  });
});

describe('a restart', () => {
  it('keeps what is pending, and takes its outcome', async () => {
    const { id } = await person.request(payment());
    const before = await person.state();
    await stop();
    await start();
    const back = new WalletSession(house, house.rig, wallet, person.id);
    // The title may be generated after the first look.
    expect(await back.state()).toEqual({ ...before, title: expect.any(String) });
    const txHash = await sendFrom(anvil.url, { from: wallet, to: friend, value: WEI });
    await back.complete([id], { status: 'success', txHash });
    expect(await back.learn()).toContain('confirmed');
    // Ids are never used again.
    expect(await back.stage(payment())).toBe(id + 1);
  });

  it('keeps an InlineCall that no snapshot has delivered', async () => {
    await requestByLegacy();
    await stop();
    await start();
    const back = new WalletSession(house, house.rig, wallet, person.id);
    const states = [await back.state(), await back.state()];
    expect(states.map((state) => eventsIn(state).length)).toEqual([1, 0]);
  });
});
