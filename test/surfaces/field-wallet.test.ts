import { hash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parseEther } from 'viem';
import type { JsonObject } from '../../src/core/model/json.js';
import { resultText } from '../../src/core/model/message.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { testApp } from '../support/core.js';
import { eventsOf, objectOf, openHouse, type House } from '../support/house.js';
import { messagesOf } from '../support/snapshot.js';
import { ANY, CHAIN, chainsAt, lastResult, sendFrom } from '../support/wallet-house.js';

jest.setTimeout(60_000);

const SESSION = 'default-session';
const CLIENT = 'client-a-of-the-wallet';
const CENT = parseEther('0.01');

let anvil: Anvil;
let wallet: string;
let friend: string;
let house: House;

beforeAll(async () => {
  anvil = await startAnvil(CHAIN);
  const [first = '', second = ''] = anvil.accounts;
  [wallet, friend] = [first.toLowerCase(), second.toLowerCase()];
});
afterAll(() => anvil.close());

beforeEach(async () => {
  house = await openHouse({
    apps: [testApp({ wallet: ANY })],
    chains: chainsAt(anvil.url),
    surfaces: ['current', 'legacy', 'field'],
    settings: { walletConfirmMs: 10_000 },
  });
  const connected = { address: wallet, chainId: CHAIN, isConnected: true };
  await report('wallet:state_changed', connected);
});
afterEach(() => house.close());

const ask = (method: string, path: string, body?: object, client = CLIENT) =>
  house.ask(method, `/field${path}?client_id=${client}`, { session: SESSION, ...(body && { body }) });

const report = (type: string, payload: JsonObject, client = CLIENT) =>
  ask('POST', '/api/system', { message: { type, payload } }, client);

const state = async (client = CLIENT) => objectOf((await ask('GET', '/api/state', undefined, client)).json);

/** Lets the model stage and request a payment; resolves with the id and the settled state. */
async function request(): Promise<{ id: number; snapshot: JsonObject }> {
  const path = `/field/api/chat?client_id=${CLIENT}&message=Pay`;
  const sent = house.ask('POST', path, { session: SESSION, headers: { Prefer: 'wait=60' } });
  const pay = { to: friend, value: '0.01', label: 'Send a cent' };
  (await house.rig.next()).call('c1', 'stage_transaction', pay).end();
  const staged = await house.rig.next();
  const { id } = objectOf(lastResult(staged.request));
  if (typeof id !== 'number') throw new Error('nothing was staged');
  staged.call('c2', 'request_transactions', { ids: [id] }).end();
  (await house.rig.next()).text('Please approve.').end();
  return { id, snapshot: objectOf((await sent).json) };
}

/** Lets the model read the outcome; resolves with its words. */
async function learn(): Promise<string> {
  const asked = await house.rig.next();
  const words = resultText(lastResult(asked.request));
  asked.text('I see.').end();
  return words;
}

describe('a wallet request on the field surface', () => {
  it('is shown under the id that was sent, is reported, and is confirmed', async () => {
    const stream = await house.watch(`/field/api/updates?client_id=${CLIENT}`, SESSION);
    const { id, snapshot } = await request();
    const pending = objectOf(objectOf(snapshot.user_state).pending_txs);
    expect(pending[id]).toMatchObject({
      ...{ to: friend, value: String(CENT), data: '0x', chain_id: CHAIN, from: wallet },
      kind: 'native_transfer',
    });
    const payload = { tx_ids: [id], aa_preference: 'none' };
    expect(snapshot.system_events).toEqual([{ InlineCall: { type: 'wallet_tx_request', payload } }]);
    expect((await state()).system_events).toEqual([]);
    // The tool that asks the wallet reports progress, the one that stages does not.
    await stream.until(({ bytes }) => bytes.includes('tool_complete'));
    const tools = eventsOf(stream).filter(({ type }) => typeof type === 'string' && type.startsWith('tool_'));
    expect(tools.map(({ type, name, session_id }) => [type, name, session_id])).toEqual([
      ['tool_update', 'request_transactions', SESSION],
      ['tool_complete', 'request_transactions', SESSION],
    ]);
    stream.close();

    const txHash = await sendFrom(anvil.url, { from: wallet, to: friend, value: CENT });
    const outcome = { txHash, status: 'success', pending_tx_ids: [id] };
    // Another client's session of the same id has no such request.
    expect((await report('wallet:tx_complete', outcome, 'client-b-of-the-wallet')).status).toBe(200);
    expect(objectOf((await state()).user_state).pending_txs).toBeDefined();
    expect((await report('wallet:tx_complete', outcome)).status).toBe(200);
    const during = await state();
    expect([during.is_processing, objectOf(during.user_state).pending_txs]).toEqual([true, undefined]);
    expect(await learn()).toContain('confirmed');
    const after = await ask('POST', '/api/interrupt');
    expect(messagesOf(after.json).filter(({ sender }) => sender === 'user')).toHaveLength(1);
  });

  it('is learned in a turn of the client that the report names', async () => {
    const session = randomUUID();
    const post = (path: string, body: object) => house.ask('POST', `/field${path}`, { session, body });
    const connected = { address: wallet, chainId: CHAIN, isConnected: true };
    await post('/api/system', { message: { type: 'wallet:state_changed', payload: connected } });
    await post('/api/tools', { name: 'stage_transaction', args: { to: friend, value: '0.01' } });
    await post('/api/tools', { name: 'request_transactions', args: { ids: [1] } });
    const payload = { status: 'failed', error: 'No.', pending_tx_ids: [1] };
    const message = { type: 'wallet:tx_complete', payload };
    await post(`/api/system?client_id=${CLIENT}`, { message });
    const [told] = await house.store.readWalletRequests(session, { ids: [1] });
    const learned = await house.store.readTurn(session, told?.turnId ?? '');
    expect(learned?.turn.clientId).toBe(hash('sha256', CLIENT));
    await learn();
  });

  it('does not repeat what the service says of it as a failure', async () => {
    const { id } = await request();
    await report('wallet:tx_complete', { status: 'failed', error: 'No.', pending_tx_ids: [id] });
    expect(await learn()).toContain('rejected');
    let snapshot = await state();
    while (snapshot.is_processing === true) snapshot = await state();
    const senders = messagesOf(snapshot).map(({ sender, tool_result }) =>
      tool_result === null ? sender : 'tool',
    );
    expect(senders.slice(-2)).toEqual(['system', 'agent']);
    expect(messagesOf(snapshot).at(-1)?.content).toBe('I see.');
  });
});

describe('POST /api/simulate of the field surface', () => {
  const transactions = () => [{ to: friend, value: String(CENT), label: 'Send a cent' }];

  it('runs from the wallet of the session, with the fee that clients insist on', async () => {
    const { status, json } = await ask('POST', '/api/simulate', { transactions: transactions() });
    expect(status).toBe(200);
    const { result } = objectOf(json);
    expect(result).toMatchObject({
      ...{ batch_success: true, from: wallet, network: 'Local' },
      fee: { amount_wei: '1', token: 'native' },
      steps: [{ step: 1, label: 'Send a cent', success: true, tx: { value_eth: '0.01' } }],
    });
  });

  it('takes the sender and the chain from the query, and needs no session', async () => {
    const body = { transactions: transactions() };
    const path = `/field/api/simulate?from=${wallet}&chain_id=${String(CHAIN)}`;
    expect((await house.ask('POST', path, { body })).status).toBe(200);
    expect((await house.ask('POST', '/field/api/simulate', { body })).status).toBe(400);
    const unknown = await house.ask('POST', `/field/api/simulate?from=${wallet}&chain_id=5`, { body });
    expect(unknown.status).toBe(400);
    const all = `${path}&transactions=${encodeURIComponent(JSON.stringify(transactions()))}`;
    for (const given of [undefined, 'no JSON']) {
      const { status, json } = await house.ask('POST', all, given === undefined ? {} : { body: given });
      expect([status, json]).toMatchObject([200, { result: { batch_success: true, from: wallet } }]);
    }
    for (const bad of ['x', '[]', '{}', '%5B5%5D']) {
      const refused = await house.ask('POST', `${path}&transactions=${bad}`);
      expect([bad, refused.status]).toEqual([bad, 400]);
      expect(JSON.stringify(refused.json)).toContain('transactions');
    }
    // An id that is everybody's has no wallet.
    expect((await house.ask('POST', '/field/api/simulate', { session: SESSION, body })).status).toBe(400);
  });
});
