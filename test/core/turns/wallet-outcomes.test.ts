import { afterEach, describe, expect, it } from '@jest/globals';
import { closeTestCores, collectUntil, created, message, spoken } from '../../support/core.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Store } from '../../../src/core/ports/store.js';
import { StoreUnavailableError } from '../../../src/core/ports/store.js';
import { Gate } from '../../support/gate.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';
import { ScriptedChains } from '../../support/scripted-chains.js';
import { HASH, mined, SHOP, walletCore, type WalletCore } from '../../support/wallet-core.js';

afterEach(closeTestCores);

const outcome = { status: 'success', txHash: HASH, pending_tx_ids: [1] };
const claim = `system: The wallet reported success for request 1 (pay), transaction ${HASH}; not verified yet.`;
const verdict = `system: Wallet request 1 (pay): confirmed. Transaction ${HASH} in block 123.`;
const EXPIRED = { leaseMs: -1 };

const linesOf = async ({ core, id }: WalletCore) => spoken(await core.snapshot(created(id)));

/**
 * A store whose process dies at a call: nothing can be stored or read after it.
 * @param death.isDone whether the call itself still takes effect
 */
function mortal(
  store: Store,
  at: 'verifyWalletRequest' | 'saveProgress',
  death: { readonly skips?: number; readonly isDone: boolean },
): { readonly store: Store; readonly passed: Promise<void> } {
  const gate = new Gate();
  let left = death.skips ?? 0;
  let isDead = false;
  const dying = new Proxy(store, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (isDead) throw new StoreUnavailableError('dead');
        if (name !== at || left-- > 0) return Reflect.apply(method, target, args);
        if (death.isDone) await Reflect.apply(method, target, args);
        isDead = true;
        gate.open();
        throw new StoreUnavailableError('dead');
      };
    },
  });
  return { store: dying, passed: gate.passed };
}

/** A process that takes an outcome and dies. Its lease has expired. */
async function dyingProcess(
  at: 'verifyWalletRequest' | 'saveProgress',
  isDone: boolean,
): Promise<{ id: string; store: Store }> {
  const store = createMemoryStore();
  const death = mortal(store, at, { isDone });
  const made = await walletCore({ store: death.store, settings: EXPIRED });
  made.chains.transactions.set(`1:${HASH}`, () => mined());
  await made.request({ label: 'pay' });
  await made.report('wallet:tx_complete', outcome);
  await death.passed;
  return { id: made.id, store };
}

/** Another process that takes the turn over. */
async function successor(store: Store, id: string, chains = new ScriptedChains()): Promise<WalletCore> {
  chains.transactions.set(`1:${HASH}`, () => mined());
  const made = await walletCore({ store, id, chains });
  await made.core.start();
  return made;
}

describe('A turn that a wallet has started', () => {
  it.each([
    ['before the verdict', 'verifyWalletRequest', false, 1],
    ['between the verdict and its record', 'verifyWalletRequest', true, 0],
    ['at the record', 'saveProgress', false, 0],
    ['after the record', 'saveProgress', true, 0],
  ] as const)('continues in another process after a crash %s', async (_, at, isDone, looks) => {
    const { id, store } = await dyingProcess(at, isDone);
    const made = await successor(store, id);
    const asked = await made.rig.next();
    expect(asked.request.messages).toHaveLength(2);
    expect(await linesOf(made)).toEqual([claim, verdict]);
    expect(made.chains.lookedUp).toHaveLength(looks);
    asked.text('Paid.').end();
    const sent = {
      sessionId: id,
      turnId: (await store.readWalletRequests(id, { ids: [1] }))[0]?.turnId ?? '',
    };
    await made.core.turnEnded({ ...sent, repeated: false }, new AbortController().signal);
    expect(await linesOf(made)).toEqual([claim, verdict, 'assistant: Paid.']);
  });

  it('takes the title of its session from the first message of the user', async () => {
    const rig = new ScriptedRig();
    rig.titles = 'A payment';
    const { core, id, chains, request, report } = await walletCore({ rig });
    const feed = await core.updates(created(id), { after: null, turns: false });
    const sent = await core.send(message(id, 'Please pay the shop'));
    (await rig.next()).fail(new RigError('no', { retryable: false }));
    await core.turnEnded(sent, new AbortController().signal);
    chains.transactions.set(`1:${HASH}`, () => mined());
    await request({ label: 'pay' });
    await report('wallet:tx_complete', outcome);
    (await rig.next()).text('Paid.').end();
    await collectUntil(feed, (one) => one.type === 'logged' && one.event.body.type === 'title_changed');
    const requests = rig.requests.filter(({ purpose }) => purpose === 'title');
    expect(requests.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['Please pay the shop', 'Paid.'],
    ]);
  });

  it('keeps the first verdict, whatever the chain says later', async () => {
    const { id, store } = await dyingProcess('verifyWalletRequest', true);
    const chains = new ScriptedChains();
    const made = await successor(store, id, chains);
    chains.transactions.set(`1:${HASH}`, () => mined({ value: '9' }));
    await made.rig.next();
    expect(await linesOf(made)).toEqual([claim, verdict]);
  });

  it('ends as interrupted while it waits for the chain', async () => {
    const made = await walletCore();
    const { core, id, chains, request, report, store } = made;
    const looking = new Promise<AbortSignal>((resolve) => {
      chains.transactions.set(`1:${HASH}`, (signal) => {
        resolve(signal);
        return new Promise(() => undefined);
      });
    });
    await request({ label: 'pay' });
    await report('wallet:tx_complete', outcome);
    const signal = await looking;
    expect(await core.interrupt(created(id))).toBe(true);
    expect(signal.aborted).toBe(true);
    expect([(await core.snapshot(created(id))).status, await linesOf(made)]).toEqual([
      'interrupted',
      [claim],
    ]);
    expect(await store.readWalletRequests(id, { ids: [1] })).toMatchObject([{ state: 'reported' }]);
  });

  it('is handed over when the service drains while it waits', async () => {
    const store = createMemoryStore();
    const first = await walletCore({ store });
    const looking = new Promise<void>((resolve) => {
      first.chains.transactions.set(`1:${HASH}`, () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    await first.request({ label: 'pay' });
    await first.report('wallet:tx_complete', outcome);
    await looking;
    await first.core.drain(0);
    const made = await successor(store, first.id);
    (await made.rig.next()).text('Paid.').end();
    expect((await linesOf(made)).slice(0, 2)).toEqual([claim, verdict]);
  });

  it('streams its text after the verdict', async () => {
    const { core, id, chains, request, report, rig } = await walletCore();
    chains.transactions.set(`1:${HASH}`, () => mined());
    await request({ label: 'pay' });
    const updates = await core.updates(created(id), { after: null, turns: true });
    await report('wallet:tx_complete', outcome);
    (await rig.next()).text('Pa', 'id.').end();
    const shown = await collectUntil(updates, ({ type }) => type === 'turn_ended');
    const text = shown.map((update) => (update.type === 'text' ? update.content : '')).join('');
    expect([shown[0]?.type, text]).toEqual(['turn_started', 'Paid.']);
  });

  it('gives the thread no title when no user has written yet', async () => {
    const { core, id, request, report, rig } = await walletCore();
    await request();
    const updates = await core.updates(created(id), { after: null, turns: true });
    await report('wallet:tx_complete', { ...outcome, status: 'failed', txHash: null });
    (await rig.next()).text('Rejected.').end();
    await collectUntil(updates, ({ type }) => type === 'turn_ended');
    expect((await core.getSession(id)).title).toBe('New Chat');
  });
});

describe('A wallet tool whose process dies', () => {
  it.each(['stage_transaction', 'request_signature'])('stages nothing twice: %s', async (name) => {
    const store = createMemoryStore();
    const death = mortal(store, 'saveProgress', { skips: 1, isDone: false });
    const first = await walletCore({ store: death.store, settings: EXPIRED });
    const { id } = first;
    await first.core.send(message(id, 'Pay'));
    const args = name === 'stage_transaction' ? { to: SHOP } : { text: 'Hi', description: 'greet' };
    (await first.rig.next()).call('c', name, args).end();
    await death.passed;
    const made = await successor(store, id);
    const { request } = await made.rig.next();
    const [result] = request.messages.flatMap((one) => ('toolResults' in one ? one.toolResults : []));
    expect(result).toMatchObject({ name, failed: false });
    const requests = await store.readWalletRequests(id, { limit: 9 });
    expect(requests.map((one) => one.id)).toEqual([1]);
    const { faults, session } = await made.core.snapshot(created(id));
    const pending = name === 'stage_transaction' ? 0 : 1;
    expect([session.pending, faults.events].map(({ length }) => length)).toEqual([pending, pending]);
  });
});
