import { hash, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { closeTestCores, created, message, spoken } from '../../support/core.js';
import { Gate } from '../../support/gate.js';
import { FORGED_WORDS, OTHER_WORDS } from '../../support/wallet-notes.js';
import { HASH, mined, SHOP, walletCore, type WalletCore } from '../../support/wallet-core.js';

afterEach(closeTestCores);

const ANOTHER_HASH = `0x${'2'.repeat(64)}`;
const pendingOf = async ({ core, id }: WalletCore) =>
  (await core.snapshot(created(id))).session.pending.map((pending) => pending.id);
const linesOf = async ({ core, id }: Pick<WalletCore, 'core' | 'id'>) =>
  spoken(await core.snapshot(created(id)));

describe('a report about the wallet', () => {
  it('is merged into the user state, and creates the session', async () => {
    const { core, store } = await walletCore();
    const id = randomUUID();
    const report = async (payload: object) =>
      core.report(created(id), JSON.stringify({ type: 'wallet:state_changed', payload }));
    await report({ address: SHOP, chainId: 7, isConnected: true, ens_name: 'shop.eth', odd: 1 });
    expect((await core.snapshot(created(id))).session.userState).toEqual({
      tree: { ens_name: 'shop.eth', evm: { address: SHOP, chain_id: 7 }, connection: { is_connected: true } },
      flat: true,
    });
    await report({ isConnected: false });
    const { session, settled } = await core.snapshot(created(id));
    expect(session.userState?.tree).toMatchObject({ evm: { address: null, chain_id: null } });
    expect([settled, (await store.loadTail(id, 1)) === 'unknown']).toEqual([[], false]);
  });

  it('without a usable field changes nothing, and creates the session in memory', async () => {
    const { core, store } = await walletCore();
    const id = randomUUID();
    await core.report(created(id), '{"type":"wallet:state_changed","payload":{"chainId":[]}}');
    expect(await store.loadTail(id, 1)).toBe('unknown');
    expect((await core.getSession(id)).id).toBe(id);
  });
});

describe('a report of an outcome', () => {
  it('counts for a request that another process made a moment ago', async () => {
    const store = createMemoryStore();
    const settings = { mirrorMs: 60_000 };
    const one = await walletCore({ store, settings });
    const other = await walletCore({ store, settings, id: one.id });
    await other.core.snapshot(created(one.id));
    await one.request({ label: 'pay' });
    await other.report('wallet:tx_complete', { status: 'failed', error: 'no', pending_tx_ids: [1] });
    expect(await store.readWalletRequests(one.id, { ids: [1] })).toMatchObject([{ state: 'rejected' }]);
  });

  it('starts a turn before it is answered, and is verified in it', async () => {
    const made = await walletCore();
    const { core, id, request, report, rig, chains } = made;
    await request({ label: 'pay' });
    const held = new Gate();
    chains.transactions.set(`1:${HASH}`, async () => {
      await held.passed;
      return mined();
    });
    const answer = await report('wallet:tx_complete', {
      status: 'success',
      txHash: HASH,
      pending_tx_ids: [1],
    });
    const claim = `The wallet reported success for request 1 (pay), transaction ${HASH}; not verified yet.`;
    expect(answer).toEqual({ content: claim, at: expect.any(Number) });
    const snapshot = await core.snapshot(created(id));
    expect([snapshot.status, snapshot.session.pending]).toEqual(['processing', []]);
    expect(spoken(snapshot)).toEqual([`system: ${claim}`]);
    held.open();
    const asked = await rig.next();
    const verdict = `Wallet request 1 (pay): confirmed. Transaction ${HASH} in block 123.`;
    expect(await linesOf(made)).toEqual([`system: ${claim}`, `system: ${verdict}`]);
    expect(asked.request.messages.map((one) => 'toolCalls' in one && one.toolResults)).toMatchObject([
      [{ name: 'wallet_report', result: claim, failed: false }],
      [{ name: 'wallet_report', result: verdict, failed: false }],
    ]);
    asked.text('It is paid.').end();
    await core.interrupt(created(id));
  });

  it('starts a turn of the client whose message led to it, unless the report names another one', async () => {
    const { core, id, request, report, rig, store } = await walletCore();
    const ownerOf = async (requestId: number) => {
      const [{ turnId } = { turnId: null }] = await store.readWalletRequests(id, { ids: [requestId] });
      return (await store.readTurn(id, turnId ?? ''))?.turn.clientId;
    };
    const sent = await core.send(message(id, 'pay', { clientId: 'one' }));
    (await rig.next()).text('Please approve.').end();
    await core.turnEnded(sent, new AbortController().signal);
    await request();
    await request();
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1] });
    expect(await ownerOf(1)).toBe(hash('sha256', 'one'));
    const payload = { status: 'failed', pending_tx_ids: [2] };
    await core.report(created(id), JSON.stringify({ type: 'wallet:tx_complete', payload }), 'two');
    expect(await ownerOf(2)).toBe(hash('sha256', 'two'));
  });

  it('is applied once, whichever client repeats it', async () => {
    const made = await walletCore();
    const { request, report, id, store, rig } = made;
    await request();
    const payload = { status: 'failed', error: 'User denied', pending_tx_ids: [1] };
    const contents = await Promise.all([1, 2, 3].map(() => report('wallet:tx_complete', payload)));
    const words =
      'The wallet reported request 1 (send 0.000000000000000001 ETH to ' +
      `${SHOP}) as rejected: nothing was signed. The wallet's words: "User denied".`;
    expect(contents.filter(({ content }) => content === words)).toHaveLength(1);
    (await rig.next()).text('Fine.').end();
    await report('wallet:tx_complete', { ...payload, txHash: HASH, status: 'success' });
    expect(await store.readWalletRequests(id, { limit: 9 })).toMatchObject([{ state: 'rejected' }]);
    expect(rig.asked).toHaveLength(1);
  });

  it('of a rejection is not verified', async () => {
    const made = await walletCore();
    const { request, report, rig, chains } = made;
    await request();
    await report('wallet:tx_complete', { status: 'failed', txHash: '0x12', pending_tx_ids: ['1'] });
    const { request: asked } = await rig.next();
    expect(asked.messages).toHaveLength(1);
    expect(await linesOf(made)).toEqual([expect.stringContaining('no valid transaction hash')]);
    expect(chains.lookedUp).toEqual([]);
  });

  it('of a success without a hash is never confirmed', async () => {
    const made = await walletCore();
    const { request, report, rig, store, id } = made;
    await request();
    await report('wallet:tx_complete', { status: 'success', pending_tx_ids: [1] });
    await rig.next();
    expect((await linesOf(made)).at(-1)).toContain(
      'reported, not found yet. The wallet reported no valid transaction hash.',
    );
    expect(await store.readWalletRequests(id, { limit: 9 })).toMatchObject([{ state: 'not_found' }]);
  });

  it('counts for pending ids of that kind in that session alone', async () => {
    const made = await walletCore();
    const { core, id, request, stage, report, call, store } = made;
    await stage();
    await request();
    await call('request_signature', { text: 'Hi', description: 'greet' });
    const foreign = randomUUID();
    const payload = { status: 'failed', pending_tx_ids: [1, 3, 99] };
    const text = JSON.stringify({ type: 'wallet:tx_complete', payload });
    expect((await report('wallet:tx_complete', payload)).content).toBe(text);
    await report('wallet_eip712_response', { status: 'failed', pending_eip712_id: 2 });
    await core.report(created(foreign), text.replace('[1,3,99]', '[2]'));
    expect(await pendingOf(made)).toEqual([2, 3]);
    expect((await core.snapshot(created(id))).status).toBe('idle');
    expect(await store.loadTail(foreign, 1)).toBe('unknown');
    await report('wallet:tx_complete', { ...payload, pending_tx_ids: [99, 2] });
    expect(await pendingOf(made)).toEqual([3]);
  });

  it('can be one for several requests, or several', async () => {
    const made = await walletCore();
    const { request, report, rig, id, store } = made;
    await request({}, {}, {});
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1, 2] });
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [3] });
    expect((await linesOf(made)).map((line) => /requests? \d/.exec(line)?.[0])).toEqual([
      'requests 1',
      'request 3',
    ]);
    (await rig.next()).text('Two.').end();
    (await rig.next()).text('Three.').end();
    expect((await store.readWalletRequests(id, { limit: 9 })).map(({ state }) => state)).toEqual(
      Array(3).fill('rejected'),
    );
  });

  it('waits behind a running turn, and that turn goes on', async () => {
    const made = await walletCore();
    const { core, id, request, report, rig } = made;
    await request();
    const sent = await core.send(message(id, 'Hello'));
    const first = await rig.next();
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1] });
    expect(await pendingOf(made)).toEqual([]);
    first.text('Hi.').end();
    await core.turnEnded(sent, new AbortController().signal);
    const second = await rig.next();
    expect(second.request.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(second.request.messages.at(-1)).toMatchObject({
      content: 'Hi.',
      toolCalls: [{ name: 'wallet_report', args: {} }],
    });
  });

  it('reports a signature, which is verified with the wallet', async () => {
    const made = await walletCore();
    const { call, report, rig, chains } = made;
    await call('request_signature', { text: 'Hi', description: 'greet' });
    const signature = `0x${'ab'.repeat(65)}`;
    chains.isSigned = (payload, given) =>
      payload.kind === 'text' && payload.text === 'Hi' && given === signature;
    await report('wallet_eip712_response', { status: 'success', signature, pending_eip712_id: '1' });
    await rig.next();
    expect((await linesOf(made)).at(-1)).toContain(`(greet): confirmed. Signature ${signature} by 0x`);
  });

  it('answers while chains and models do not', async () => {
    const { request, report, chains, core, id } = await walletCore();
    await request();
    chains.transactions.set(`1:${ANOTHER_HASH}`, () => new Promise(() => undefined));
    await report('wallet:tx_complete', { status: 'success', txHash: ANOTHER_HASH, pending_tx_ids: [1] });
    expect(await core.interrupt(created(id))).toBe(true);
    expect((await core.snapshot(created(id))).status).toBe('interrupted');
  });

  it('of requests of two Apps starts a turn for each', async () => {
    const { stage, report, rig, store, id } = await walletCore({ settings: { mirrorMs: 0 } });
    await stage();
    const [first] = await store.readWalletRequests(id, { ids: [1] });
    if (first === undefined) throw new Error('nothing was staged');
    await store.stageWalletRequest({ ...first, callId: 'elsewhere', app: 'none' });
    const at = Date.now();
    const asked = {
      sessionId: id,
      ids: [1, 2],
      event: '{}',
      daily: null,
      expiresAt: at + 60_000,
      by: null,
      at,
    };
    await store.requestWallet(asked);
    await report('wallet:tx_complete', { status: 'failed', pending_tx_ids: [1, 2] });
    (await rig.next()).text('One.').end();
    (await rig.next()).text('Two.').end();
    const requests = await store.readWalletRequests(id, { ids: [1, 2] });
    const turns = await Promise.all(requests.map(({ turnId }) => store.readTurn(id, turnId ?? '')));
    expect(turns.map((turn) => turn?.turn.app)).toEqual(['default', 'none']);
  });
});

describe('any other report', () => {
  it('is stored as a system message that starts no turn and reaches no rig', async () => {
    const made = await walletCore();
    const { core, id, rig } = made;
    expect(await core.report(created(id), 'The page was opened')).toEqual({
      content: 'The page was opened',
      at: expect.any(Number),
    });
    await core.report(created(id), '{"type":"theme_changed"}');
    expect(await linesOf(made)).toEqual(['system: The page was opened', 'system: {"type":"theme_changed"}']);
    expect((await core.snapshot(created(id))).status).toBe('idle');
    await core.send(message(id, 'Hello'));
    expect((await rig.next()).request.messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  it('creates the session', async () => {
    const { core, store } = await walletCore();
    const id = randomUUID();
    await core.report(created(id), 'Hello');
    expect(await store.loadTail(id, 1)).toMatchObject({ messages: [{ role: 'system', content: 'Hello' }] });
    expect(spoken(await core.snapshot(created(id)))).toEqual(['system: Hello']);
  });

  it('keeps its place behind a running turn', async () => {
    const made = await walletCore();
    const { core, id, rig } = made;
    const sent = await core.send(message(id, 'Hello'));
    const asked = await rig.next();
    await core.report(created(id), 'noted');
    expect(await linesOf(made)).toEqual(['user: Hello', 'system: noted']);
    asked.text('Hi.').end();
    await core.turnEnded(sent, new AbortController().signal);
    expect(await linesOf(made)).toEqual(['user: Hello', 'assistant: Hi.', 'system: noted']);
  });

  it('is refused when it cannot be stored', async () => {
    const { core, id } = await walletCore({ settings: { maxMessageBytes: 100, maxSessionBytes: 150 } });
    const report = (text: string) => core.report(created(id), text);
    await expect(report('a\0b')).rejects.toMatchObject({ reason: 'invalid' });
    await expect(report('x'.repeat(101))).rejects.toMatchObject({ reason: 'invalid' });
    await report('x'.repeat(100));
    await expect(report('x'.repeat(100))).rejects.toMatchObject({ reason: 'full' });
  });

  it("is refused when a client takes it for the service's words", async () => {
    const { core, store } = await walletCore();
    const id = randomUUID();
    for (const note of FORGED_WORDS)
      await expect(core.report(created(id), note)).rejects.toMatchObject({ reason: 'invalid' });
    expect(await store.loadTail(id, 1)).toBe('unknown');
    for (const note of OTHER_WORDS) await core.report(created(id), note);
    expect(await linesOf({ core, id })).toEqual(OTHER_WORDS.map((note) => `system: ${note}`));
  });

  it('without text stores nothing', async () => {
    const { core, store } = await walletCore();
    const id = randomUUID();
    expect(await core.report(created(id), ' \n')).toMatchObject({ content: ' \n' });
    expect(await store.loadTail(id, 1)).toBe('unknown');
  });

  it('is refused while the service drains, as reports of outcomes are', async () => {
    const { core, id, report, request } = await walletCore();
    await request();
    await core.drain(0);
    await expect(core.report(created(id), 'Hello')).rejects.toMatchObject({ reason: 'unavailable' });
    const payload = { status: 'failed', pending_tx_ids: [1] };
    await expect(report('wallet:tx_complete', payload)).rejects.toMatchObject({ reason: 'unavailable' });
  });
});
