import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/core/model/json.js';
import type { Store } from '../../../src/core/ports/store.js';
import { closeTestCores, created, message, spoken } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ScriptedChains, TEST_CHAINS } from '../../support/scripted-chains.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { field, HASH, SHOP, WALLET, walletCore } from '../../support/wallet-core.js';

afterEach(closeTestCores);

const STRANGER = `0x${'c'.repeat(40)}`;
const ETHER = 10n ** 18n;

describe('stage_transaction', () => {
  it('simulates from the wallet, stores, and says what would happen', async () => {
    const { call, chains, store, id, core } = await walletCore();
    const result = await call('stage_transaction', {
      to: SHOP.toUpperCase().replace('0X', '0x'),
      value: '0.01',
    });
    expect(result).toEqual({
      ...{ id: 1, chain_id: 1, chain: 'Testnet', from: WALLET, to: SHOP },
      ...{ value: '0.01 ETH', value_wei: '10000000000000000', data: '0x' },
      label: `send 0.01 ETH to ${SHOP}`,
      simulation: { success: true, stateful: true, gas_used: '21000', result: '0x' },
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
      next: 'Nothing was sent. Call request_transactions with ids [1] to ask the person to sign.',
    });
    const value = '10000000000000000';
    expect(chains.simulated).toEqual([
      { chainId: 1, from: WALLET, calls: [{ to: SHOP, value, data: '0x' }] },
    ]);
    expect(await store.readWalletRequests(id, { ids: [1] })).toMatchObject([
      {
        ...{ state: 'staged', isSound: true, app: 'default', wallet: WALLET, chainId: 1 },
        payload: { kind: 'transaction', to: SHOP, value, data: '0x', gas: '21000', nonce: 5, after: [] },
      },
    ]);
    expect((await core.snapshot(created(id))).session.pending).toEqual([]);
  });

  it('encodes a function, resolves names, and takes labels', async () => {
    const { call, chains } = await walletCore();
    chains.names.set('shop.eth', SHOP);
    const order = { to: 'shop.eth', function: 'function pay(uint256 n)', args: ['7'], label: ' buy (it) ' };
    expect(await call('stage_transaction', order)).toMatchObject({ to: SHOP, label: 'buy [it]' });
    expect(await call('stage_transaction', { ...order, label: '' })).toMatchObject({
      label: `call pay of ${SHOP}`,
    });
    const data = chains.simulated[0]?.calls[0]?.data ?? '';
    expect(Buffer.from(data.slice(10), 'hex').toString()).toBe('["function pay(uint256 n)","7"]');
  });

  it('takes hashes among the arguments of a function', async () => {
    const { call } = await walletCore();
    for (const args of [[HASH], [[HASH, '1']], [{ pool: HASH, amount: '1' }], [[[{ pool: HASH }]]]])
      expect(
        field(await call('stage_transaction', { to: SHOP, function: 'f(…)', args }), 'id'),
      ).toBeDefined();
    await expect(call('stage_transaction', { to: HASH })).rejects.toThrow('private key');
  });

  it.each<readonly [string, number, string | undefined]>([
    ['123 wei', 1, '123'],
    ['0.000001', 7, '1'],
    ['1 six', 7, '1000000'],
    ['1 ETH', 1, String(ETHER)],
    [`1${'0'.repeat(77)} wei`, 1, `1${'0'.repeat(77)}`],
    ['1e-19', 1, undefined],
    ['0.0000001', 7, undefined],
    ['1 ETH', 7, undefined],
    ['1.5 wei', 1, undefined],
    ['-1', 1, undefined],
    ['all', 1, undefined],
    [`1${'0'.repeat(78)} wei`, 1, undefined],
  ])('reads the value %j on chain %d', async (value, chain_id, wei) => {
    const { call } = await walletCore();
    const result = await call('stage_transaction', { to: SHOP, value, chain_id });
    if (wei === undefined) expect(result).toContain('value must be an amount of');
    else expect(field(result, 'value_wei')).toBe(wei);
  });

  it.each([
    [{ value: '1' }, 'args.to'],
    [{ to: SHOP, amount: '1' }, 'amount'],
    [{ to: SHOP, value: 1 }, 'args.value'],
    [{ to: SHOP, data: '0x1' }, 'args.data'],
    [{ to: SHOP, after: ['1'] }, 'args.after'],
    [{ to: SHOP, after: [2 ** 53] }, 'args.after'],
  ])('refuses arguments outside its schema: %j', async (args, what) => {
    const { call } = await walletCore();
    await expect(call('stage_transaction', args)).rejects.toMatchObject({
      details: [{ path: expect.stringContaining(what.split('.')[0] ?? '') }],
    });
  });

  it.each([
    [{ to: SHOP, data: '0x', function: 'f()' }, 'either data, or function'],
    [{ to: SHOP, args: ['1'] }, 'args need a function'],
    [{ to: 'nobody' }, 'nobody is not an address'],
    [{ to: SHOP, chain_id: 99 }, 'The chain 99 is not configured; there are 1 (Testnet), 7 (Sixnet)'],
    [{ to: SHOP, after: [4] }, 'There is no staged transaction 4'],
  ])('refuses %j in words', async (args, words) => {
    const { call } = await walletCore();
    expect(await call('stage_transaction', args)).toContain(words);
  });

  it('stores a transaction that would fail, which cannot be requested', async () => {
    const { call, chains } = await walletCore();
    chains.failing = { index: 0, reason: 'insufficient balance' };
    expect(await call('stage_transaction', { to: SHOP })).toMatchObject({
      simulation: { success: false, revert_reason: 'insufficient balance' },
      next: 'It would fail, so request 1 cannot be made: stage a corrected transaction.',
    });
    expect(await call('request_transactions', { ids: [1] })).toContain('Request 1 would fail');
  });

  it('fails when the chain does, and stores nothing', async () => {
    const { call, chains, store, id } = await walletCore();
    chains.simulation = () => Promise.reject(new Error('The nodes of Testnet do not respond.'));
    expect(await call('stage_transaction', { to: SHOP })).toBe('The nodes of Testnet do not respond.');
    expect(await store.readWalletRequests(id, { limit: 9 })).toEqual([]);
  });

  it('simulates together with those that come first', async () => {
    const { call, stage, chains } = await walletCore();
    const first = await stage({ value: '1 wei' });
    const second = await stage({ value: '2 wei', after: [first] });
    await call('stage_transaction', { to: SHOP, value: '3 wei', after: [second] });
    expect(chains.simulated.at(-1)?.calls.map(({ value }) => value)).toEqual(['1', '2', '3']);
    chains.failing = { index: 1, reason: 'no' };
    chains.stateful = false;
    expect(await call('stage_transaction', { to: SHOP, after: [first, second] })).toMatchObject({
      simulation: { success: false, stateful: false },
      next: expect.stringContaining('Request 2 would fail, so request 4 cannot be made: this chain cannot'),
    });
  });

  it('names all ids to request, and none that was requested', async () => {
    const { call, stage } = await walletCore();
    const next = async (...after: number[]) =>
      field(await call('stage_transaction', { to: SHOP, after }), 'next');
    await stage();
    expect(await next(1)).toContain('with ids [1, 2]');
    expect(await next(2)).toContain('with ids [1, 2, 3]');
    await call('request_transactions', { ids: [1] });
    expect(await next(3)).toContain('with ids [2, 3, 4]');
    expect(await call('request_transactions', { ids: [2, 3, 4] })).toMatchObject({ requested: [2, 3, 4] });
  });

  it('offers the gas of the estimate, or what the simulation used with a margin', async () => {
    const { stage, chains, store, id } = await walletCore();
    const offered = async (args: JsonObject = {}) =>
      (await store.readWalletRequests(id, { ids: [await stage(args)] })).map(({ payload }) => payload);
    chains.gas = '36079';
    expect(await offered()).toMatchObject([{ gas: '36079' }]);
    expect(await offered({ after: [1] })).toMatchObject([{ gas: '31500' }]);
    chains.gas = null;
    expect(await offered()).toMatchObject([{ gas: '31500' }]);
  });

  it('refuses to come after what failed, is of another chain, or has no known outcome', async () => {
    const { call, stage, chains, request, report } = await walletCore();
    chains.failing = { index: 0, reason: 'no' };
    const unsound = await stage();
    chains.failing = null;
    const elsewhere = await stage({ chain_id: 7 });
    const [rejected = 0] = await request({});
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [rejected] });
    const after = (id: number) => call('stage_transaction', { to: SHOP, after: [id] });
    expect(await after(unsound)).toContain('would fail');
    expect(await after(elsewhere)).toContain('another wallet or chain');
    expect(await after(rejected)).toContain('did not take place');
  });

  it.each([
    ['a hash that is being looked for', { txHash: HASH }, 'not known yet: list_wallet_requests looks again'],
    ['no hash', {}, 'cannot be verified: ask the person'],
  ])('says what to do after a success that was reported with %s', async (_, proof, words) => {
    const clock = new FakeClock();
    const { call, request, report, rig, chains } = await walletCore({ clock });
    chains.transactions.set(`1:${HASH}`, () => new Promise(() => undefined));
    await request();
    await report('wallet:tx_complete', { status: 'success', ...proof, pending_tx_ids: [1] });
    const stageAfter = () => call('stage_transaction', { to: SHOP, after: [1] });
    expect(await stageAfter()).toContain(words);
    // The verdict is stored before the model is asked.
    await clock.passUntil(rig.next());
    expect(await stageAfter()).toContain(words);
    // A day after its expiry it is not looked for any more.
    clock.pass(2 * 86_400_000);
    expect(await stageAfter()).toContain('cannot be verified: ask the person');
  });

  it('applies the limits of the App', async () => {
    const policy = { chains: [1], recipients: [SHOP], maxValue: '1', maxDailyValue: '1.5' };
    const { call, request } = await walletCore({ policy });
    const stage = (args: object) => call('stage_transaction', { to: SHOP, ...args });
    expect(await stage({ to: STRANGER })).toContain(STRANGER);
    expect(await stage({ chain_id: 7 })).toContain('Sixnet');
    expect(await stage({ value: '1.000000000000000001' })).toContain('more than the 1 ETH');
    await request({ value: '1' });
    expect(await stage({ value: '0.500000000000000001' })).toContain('has asked for 1 ETH today');
    expect(field(await stage({ value: '0.5' }), 'id')).toBe(2);
    expect(field(await stage({}), 'id')).toBe(3);
  });

  it('knows calls by the step that made them, because models repeat the ids of calls', async () => {
    const { core, rig, store, id } = await walletCore();
    for (const text of ['Pay', 'Again']) {
      const sent = await core.send(message(id, text));
      (await rig.next()).call('call_0', 'stage_transaction', { to: SHOP }).end();
      (await rig.next()).text('Staged.').end();
      await core.turnEnded(sent, new AbortController().signal);
    }
    expect(await store.readWalletRequests(id, { limit: 9 })).toMatchObject([{ id: 1 }, { id: 2 }]);
  });
});

describe('request_transactions', () => {
  it('makes requests pending, notifies the client once, and reports progress', async () => {
    const { call, stage, core, id } = await walletCore();
    const ids = [await stage(), await stage()];
    const result = await call('request_transactions', { ids });
    expect(result).toEqual({
      ...{ requested: [1, 2], expires_at: expect.any(String) },
      note: expect.stringContaining('a later turn'),
    });
    const snapshot = await core.snapshot(created(id));
    expect(snapshot.session.pending.map((pending) => pending.id)).toEqual([1, 2]);
    expect(snapshot.faults.events).toMatchObject([{ kind: 'InlineCall' }]);
    expect(JSON.parse(snapshot.faults.events[0]?.text ?? '')).toEqual({
      ...{ type: 'wallet_tx_request', payload: { tx_ids: [1, 2], aa_preference: 'none' } },
    });
    snapshot.faults.confirm();
    expect(await call('request_transactions', { ids })).toEqual(result);
    const later = await core.snapshot(created(id));
    expect(later.faults.events).toEqual([]);
    expect(later.session.pending).toHaveLength(2);
  });

  it('shows a call with several steps to the clients of a turn', async () => {
    const { rig, core, id, stage } = await walletCore();
    await stage();
    const sent = await core.send(message(id, 'Pay'));
    (await rig.next()).call('c', 'request_transactions', { ids: [1] }).end();
    (await rig.next()).text('Please sign.').end();
    await core.turnEnded(sent, new AbortController().signal);
    const { settled } = await core.snapshot(created(id));
    expect(settled.flatMap(({ toolResults }) => toolResults ?? [])).toMatchObject([
      { name: 'request_transactions', failed: false, multiStep: true },
    ]);
  });

  it.each([
    ['was interrupted', (store: Store, id: string) => store.interruptTurns(id, Date.now())],
    [
      'another node has claimed',
      (store: Store, _: string, turnId: string) =>
        store.takeOver(turnId, { owner: 'other', milliseconds: 60_000 }),
    ],
  ])('does not ask the wallet for a turn that %s, before this node learns of it', async (_, leave) => {
    const memory = createMemoryStore();
    const store: Store = {
      ...memory,
      async requestWallet(ask) {
        await leave(memory, ask.sessionId, ask.by?.id ?? '');
        return memory.requestWallet(ask);
      },
    };
    const { rig, core, id, stage } = await walletCore({ store });
    await stage();
    await core.send(message(id, 'Pay'));
    (await rig.next()).call('c', 'request_transactions', { ids: [1] }).end();
    void rig.next().then((asked) => asked.end());
    await core.drain(60_000);
    expect((await core.snapshot(created(id))).session.pending).toEqual([]);
  });

  it.each([
    { ids: [] },
    { ids: [1], value: '1' },
    { ids: [1], to: SHOP, data: '0x' },
    { ids: ['1'] },
    { ids: [1e300] },
  ])('takes ids alone: refuses %j', async (args) => {
    const { call } = await walletCore();
    await expect(call('request_transactions', args)).rejects.toThrow('do not fit');
  });

  it('refuses unknown ids, other Apps, other wallets and messages', async () => {
    const { call, stage, core, id } = await walletCore();
    expect(await call('request_transactions', { ids: [9] })).toBe('There is no staged transaction 9');
    await stage();
    await call('request_signature', { text: 'Hi', description: 'greet' });
    expect(await call('request_transactions', { ids: [2] })).toContain('is a message');
    expect(await call('request_transactions', { ids: [1, 9] })).toContain('no staged transaction 9');
    await core.createSession({ sessionId: id, wallet: STRANGER });
    expect(await call('request_transactions', { ids: [1] })).toContain('of another wallet');
    expect((await core.snapshot(created(id))).session.pending.map((one) => one.id)).toEqual([2]);
  });

  it('keeps the order of those that depend on each other', async () => {
    const { call, stage } = await walletCore();
    await stage();
    await stage({ after: [1] });
    await stage({ after: [2] });
    const ask = (...ids: number[]) => call('request_transactions', { ids });
    expect(await ask(2)).toContain('Request 2 depends on request 1: request both');
    expect(await ask(2, 1)).toContain('Request 2 comes after request 1');
    expect(await ask(1, 2)).toMatchObject({ requested: [1, 2] });
    expect(await ask(3)).toMatchObject({ requested: [3] });
    expect(await ask(3, 1)).toMatchObject({ requested: [3, 1] });
  });

  it('refuses one that depends on a rejected one', async () => {
    const { call, stage, report } = await walletCore();
    await stage();
    await stage({ after: [1] });
    await call('request_transactions', { ids: [1] });
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1] });
    expect(await call('request_transactions', { ids: [2] })).toContain('which did not take place');
  });

  it('says what has become of requests that are asked for again', async () => {
    const { call, request, report } = await walletCore();
    await request({}, {});
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1] });
    expect(await call('request_transactions', { ids: [1, 2] })).toMatchObject({
      outcomes: { '1': 'rejected' },
      note: expect.stringContaining('approve'),
    });
    expect(await call('request_transactions', { ids: [1] })).toMatchObject({
      outcomes: { '1': 'rejected' },
      note: expect.stringContaining('stage it again'),
    });
  });

  it('applies the limits of the App again, and that of the day in one step', async () => {
    const store = createMemoryStore();
    const before = await walletCore({ store });
    await before.stage({ value: '2' });
    const { id } = before;
    const after = await walletCore({ store, id, policy: { maxValue: '1' } });
    expect(await after.call('request_transactions', { ids: [1] })).toContain('more than the 1 ETH');
    const daily = await walletCore({ policy: { maxDailyValue: '1' } });
    const ids = [await daily.stage({ value: '0.6' }), await daily.stage({ value: '0.6' })];
    expect(await daily.call('request_transactions', { ids })).toContain('has asked for 0 ETH today');
    expect((await daily.core.snapshot(created(daily.id))).session.pending).toEqual([]);
    await daily.call('request_transactions', { ids: [1] });
    expect(await daily.call('request_transactions', { ids: [2] })).toContain('has asked for 0.6 ETH today');
  });

  it('refuses what has expired, also before housekeeping has noticed', async () => {
    const clock = new FakeClock();
    const { call, stage } = await walletCore({ clock, settings: { walletRequestMs: 60_000 } });
    await stage();
    clock.pass(60_000);
    expect(await call('request_transactions', { ids: [1] })).toContain('Request 1 has expired');
  });
});

describe('request_signature', () => {
  const typed_data = { primaryType: 'Mail', domain: { chainId: 7 }, message: { text: 'Hi' } };

  it('asks for typed data, on the chain that it names', async () => {
    const { call, core, id } = await walletCore();
    const result = await call('request_signature', { typed_data, description: 'send the mail' });
    expect(result).toMatchObject({ requested: [1] });
    const { session, faults } = await core.snapshot(created(id));
    expect(session.pending).toMatchObject([
      { id: 1, chainId: 7, payload: { kind: 'signature', typedData: typed_data, text: null } },
    ]);
    const [event] = faults.events;
    expect(JSON.parse(event?.text ?? '')).toEqual({
      type: 'wallet_eip712_request',
      payload: { typed_data, description: 'send the mail', pending_eip712_id: 1 },
    });
  });

  it('takes hashes in the domain and the message of typed data', async () => {
    const { call } = await walletCore();
    const domain = { chainId: 7, salt: HASH };
    for (const message of [
      { zone: HASH },
      { nodes: [HASH] },
      { order: { zone: HASH } },
      { items: [{ id: HASH }] },
      { order: { info: { id: HASH } } },
    ])
      expect(
        await call('request_signature', { typed_data: { ...typed_data, domain, message }, description: 'x' }),
      ).toHaveProperty('requested');
    const hidden = { typed_data: { ...typed_data, primaryType: HASH }, description: 'x' };
    await expect(call('request_signature', hidden)).rejects.toThrow('private key');
  });

  it('takes typed data of any shape', async () => {
    const { call } = await walletCore();
    const deep = { a: [[[[[1, true, 'x']]]]], b: { c: { d: { e: [[[[{ f: null }]]]] } } } };
    const given = { ...typed_data, types: { Mail: [{ name: 'a', type: 'b' }] }, message: deep };
    expect(await call('request_signature', { typed_data: given, description: 'x' })).toHaveProperty(
      'requested',
    );
  });

  it('asks for a text', async () => {
    const { call, core, id } = await walletCore();
    await call('request_signature', { text: 'Hello', description: 'greet' });
    const { faults } = await core.snapshot(created(id));
    expect(JSON.parse(faults.events[0]?.text ?? '')).toEqual({
      type: 'wallet_eip712_request',
      payload: { typed_data: null, description: 'greet', pending_eip712_id: 1, message: 'Hello' },
    });
  });

  it.each([
    [{ description: 'x' }, 'either typed_data or text'],
    [{ description: 'x', text: 'a', typed_data }, 'either typed_data or text'],
    [{ description: 'x', typed_data: {} }, 'typed_data has no primaryType'],
    [{ description: 'x', typed_data: { ...typed_data, domain: { chainId: '99' } } }, 'The chain 99'],
  ])('refuses %j in words', async (args, words) => {
    const { call, core, id } = await walletCore();
    expect(await call('request_signature', args)).toContain(words);
    expect((await core.snapshot(created(id))).session.pending).toEqual([]);
  });

  it('applies the limits of the App', async () => {
    const { call } = await walletCore({ policy: { chains: [1], recipients: [SHOP] } });
    expect(await call('request_signature', { typed_data, description: 'x' })).toContain('Sixnet');
    const permit = { primaryType: 'Permit', message: { spender: STRANGER } };
    expect(await call('request_signature', { typed_data: permit, description: 'x' })).toContain(STRANGER);
  });
});

describe('list_wallet_requests', () => {
  it('lists the states of the latest requests', async () => {
    const { call, stage, request, report } = await walletCore();
    await stage();
    await request({ label: 'one' }, { label: 'two' });
    await report('wallet:tx_complete', { status: 'failed', error: 'no', pending_tx_ids: [2] });
    expect(await call('list_wallet_requests', {})).toEqual({
      requests: [
        { id: 1, state: 'staged', kind: 'transaction', chain_id: 1 },
        { id: 2, state: 'rejected', label: 'one', wallet_reported: 'failed', wallet_error: 'no' },
        { id: 3, state: 'pending', label: 'two' },
      ].map((fields) => expect.objectContaining(fields)),
    });
  });

  it('shows at most 20, of this App', async () => {
    const { call, stage } = await walletCore();
    for (let count = 0; count < 22; count++) await stage();
    const result = await call('list_wallet_requests', {});
    expect(field(result, 'requests')).toHaveLength(20);
  });
});

describe('the wallet tools', () => {
  const names = ['stage_transaction', 'request_transactions', 'request_signature', 'list_wallet_requests'];

  it('are listed where the App may ask wallets and a chain is configured', async () => {
    const { core } = await walletCore();
    const listed = async (app?: string) => (await core.listTools(app, undefined)).map(({ name }) => name);
    expect(await listed()).toEqual(names);
    const none = await walletCore({ chains: new ScriptedChains([]) });
    expect(await none.core.listTools(undefined, undefined)).toEqual([]);
  });

  it('are offered to a rig in sessions with an EVM wallet alone', async () => {
    const { core, rig } = await walletCore();
    const offered = async (session: string, wallet?: string) => {
      await core.send(message(session, 'Hi', wallet === undefined ? {} : { wallet }));
      return (await rig.next()).request.tools.map(({ name }) => name);
    };
    expect(await offered('00000000-0000-4000-8000-000000000001')).toEqual([]);
    expect(await offered('00000000-0000-4000-8000-000000000002', WALLET)).toEqual(names);
    expect(await offered('00000000-0000-4000-8000-000000000003', `eip155:1:${WALLET}`)).toEqual(names);
    expect(await offered('00000000-0000-4000-8000-000000000004', 'So1anaAddress')).toEqual([]);
  });

  it('say that no wallet is connected', async () => {
    const { call } = await walletCore();
    const session = '00000000-0000-4000-8000-000000000005';
    expect(await call('stage_transaction', { to: SHOP }, { session })).toContain('No wallet');
    expect(await call('request_signature', { text: 'x', description: 'x' }, { session })).toContain(
      'No wallet',
    );
  });

  it('prefer the chain that the wallet is connected to, if it is configured', async () => {
    const { call, report } = await walletCore();
    const chainOf = async () => field(await call('stage_transaction', { to: SHOP }), 'chain_id');
    expect(await chainOf()).toBe(TEST_CHAINS[0]?.id);
    await report('wallet:state_changed', { chainId: '0x7' });
    expect(await chainOf()).toBe(7);
    await report('wallet:state_changed', { chainId: 99 });
    expect(await chainOf()).toBe(1);
  });

  it('log no calldata, hash, signature or address', async () => {
    const { call, request, report, log, chains, id, core } = await walletCore();
    const data = `0x${'d'.repeat(200)}`;
    await request({ data, label: 'hidden label' });
    chains.simulation = () => Promise.reject(new Error(`no node knows ${WALLET}`));
    await call('stage_transaction', { to: SHOP });
    const hash = `0x${'e'.repeat(64)}`;
    chains.transactions.set(`1:${hash}`, () => Promise.reject(new Error(`no ${hash} from ${WALLET}`)));
    await report('wallet:tx_complete', { status: 'success', txHash: hash, pending_tx_ids: [1] });
    await core.interrupt(created(id));
    const text = log.lines.join('\n').toLowerCase();
    expect(text).toContain('failed to read a reported outcome');
    for (const secret of [data.slice(2), hash.slice(2), WALLET.slice(2), SHOP.slice(2), 'hidden label'])
      expect(text).not.toContain(secret);
    expect(spoken(await core.snapshot(created(id))).join('\n')).toContain(hash);
  });
});
