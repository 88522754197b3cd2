import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/core/model/json.js';
import type { ChainTransaction } from '../../../src/core/ports/chains.js';
import { closeTestCores, created, message, spoken } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { field, HASH, mined, SHOP, walletCore, type WalletCore } from '../../support/wallet-core.js';

afterEach(closeTestCores);

const STRANGER = `0x${'c'.repeat(40)}`;
const settings = { walletConfirmMs: 30_000 };
const success = (...ids: number[]): JsonObject => ({ status: 'success', txHash: HASH, pending_tx_ids: ids });

/** Requests one transaction and reports its success. Returns the verdict that the model reads. */
async function verdictOf(
  found: ChainTransaction | undefined | ((looks: number) => ChainTransaction | undefined),
  order: JsonObject = {},
): Promise<{ words: string; made: WalletCore; looks: number; passedMs: number }> {
  const clock = new FakeClock();
  const made = await walletCore({ clock, settings });
  let looks = 0;
  made.chains.transactions.set(`1:${HASH}`, () => {
    looks++;
    return typeof found === 'function' ? found(looks) : found;
  });
  await made.request({ label: 'pay', ...order });
  const began = clock.monotonic();
  await made.report('wallet:tx_complete', success(1));
  (await clock.passUntil(made.rig.next())).text('ok').end();
  const lines = spoken(await made.core.snapshot(created(made.id)));
  return { words: lines[1] ?? '', made, looks, passedMs: clock.monotonic() - began };
}

describe('the verdict on a transaction', () => {
  it('is confirmed when the chain has it as staged', async () => {
    const { words, made } = await verdictOf(mined());
    expect(words).toBe(`system: Wallet request 1 (pay): confirmed. Transaction ${HASH} in block 123.`);
    expect(await made.store.readWalletRequests(made.id, { ids: [1] })).toMatchObject([
      {
        state: 'confirmed',
        claim: { status: 'success', proof: HASH, error: null },
        verification: { verdict: 'confirmed', detail: 'in block 123' },
      },
    ]);
  });

  it('is of the chain, whatever the wallet claims', async () => {
    const receipt = { succeeded: false, blockNumber: '9', gasUsed: '1' };
    const { words } = await verdictOf(mined({ receipt }));
    expect(words).toContain(`failed on chain. Transaction ${HASH} in block 9.`);
  });

  it.each<readonly [Partial<ChainTransaction>, string]>([
    [{ from: STRANGER }, `the sender is ${STRANGER}`],
    [{ to: STRANGER }, `the recipient is ${STRANGER}, not ${SHOP}`],
    [{ to: null }, 'the recipient is a new contract'],
    [{ value: '2' }, 'the value is 2 wei, not 1 wei'],
    [{ value: 'x' }, 'the value is x wei'],
    [{ data: '0xa9059cbb' }, 'the data is not the staged one'],
    [{ delegates: true }, 'it also lets a contract act for an account (EIP-7702)'],
    [{ nonce: 4 }, 'it is older than the request'],
  ])('differs for %j', async (fields, why) => {
    const { words, passedMs } = await verdictOf(mined({ ...fields, receipt: null }));
    expect(words).toContain(`differs from what was staged. Transaction ${HASH}: ${why}`);
    expect(passedMs).toBe(0);
  });

  it('takes other spellings of the same transaction, and later nonces', async () => {
    const { words } = await verdictOf(
      mined({ to: SHOP.toUpperCase().replace('0X', '0x'), value: '01', data: '0xAB', nonce: 60 }),
      { data: '0xab' },
    );
    expect(words).toContain(': confirmed.');
  });

  it('waits until it is mined, with growing pauses', async () => {
    const { words, looks, passedMs } = await verdictOf((look) => {
      if (look === 1) return undefined;
      return look < 5 ? mined({ receipt: null }) : mined();
    });
    expect(words).toContain(': confirmed.');
    expect([looks, passedMs]).toEqual([5, 1_000 + 2_000 + 3_000 + 4_000]);
  });

  it('is "not found yet" when the patience is over', async () => {
    const unknown = await verdictOf(undefined);
    expect(unknown.words).toContain(
      `reported, not found yet. Transaction ${HASH}: the chain does not show it.`,
    );
    expect(unknown.passedMs).toBe(30_000);
    expect((await verdictOf(mined({ receipt: null }))).words).toContain(': it is sent, but not mined.');
  });

  it('counts errors of the chain as not found yet', async () => {
    const failing = (until: number) => (look: number) => {
      if (look < until) throw new Error('no node responds');
      return mined();
    };
    expect((await verdictOf(failing(4))).words).toContain(': confirmed.');
    const never = await verdictOf(failing(Infinity));
    expect(never.words).toContain('reported, not found yet');
    expect(never.made.log.lines.join('')).not.toContain('no node responds');
  });

  it('does not wait for a node that never responds', async () => {
    const clock = new FakeClock();
    const { chains, request, report, rig, core, id } = await walletCore({ clock, settings });
    chains.transactions.set(`1:${HASH}`, () => new Promise(() => undefined));
    await request();
    await report('wallet:tx_complete', success(1));
    await clock.passUntil(rig.next());
    expect(spoken(await core.snapshot(created(id)))[1]).toContain('reported, not found yet');
  });

  it('leaves the model half of the time of the turn', async () => {
    const clock = new FakeClock();
    const limits = { walletConfirmMs: 90_000, turnTimeoutMs: 60_000 };
    const { request, report, rig, core, id } = await walletCore({ clock, settings: limits });
    await request();
    await report('wallet:tx_complete', success(1));
    const sent = clock.monotonic();
    (await clock.passUntil(rig.next())).text('Not yet.').end();
    expect(clock.monotonic() - sent).toBe(30_000);
    await clock.advance(0);
    expect((await core.snapshot(created(id))).status).toBe('idle');
  });
});

describe('the verdicts on several requests', () => {
  it('confirm only one by one transaction', async () => {
    const { chains, request, report, rig, core, id } = await walletCore();
    chains.transactions.set(`1:${HASH}`, () => mined());
    await request({ label: 'one' }, { label: 'two' }, { label: 'three' });
    await report('wallet:tx_complete', success(1, 2));
    (await rig.next()).text('ok').end();
    const [, words] = spoken(await core.snapshot(created(id)));
    expect(words).toBe(
      `system: Wallet request 1 (one): confirmed. Transaction ${HASH} in block 123.\n` +
        `Wallet request 2 (two): differs from what was staged. Transaction ${HASH}: the transaction has already confirmed another request.`,
    );
    await report('wallet:tx_complete', success(3));
    await rig.next();
    expect(spoken(await core.snapshot(created(id))).at(-1)).toContain(
      '(three): differs from what was staged',
    );
    expect(chains.lookedUp).toHaveLength(2);
  });

  it('share the patience, whatever chain they are on', async () => {
    const clock = new FakeClock();
    const { chains, request, report, rig, core, id } = await walletCore({ clock, settings });
    chains.transactions.set(`1:${HASH}`, () => new Promise(() => undefined));
    chains.transactions.set(`7:${HASH}`, () => mined());
    await request({ label: 'one' }, { label: 'two', chain_id: 7 });
    const began = clock.monotonic();
    await report('wallet:tx_complete', success(1, 2));
    await clock.passUntil(rig.next());
    expect(clock.monotonic() - began).toBe(30_000);
    const words = spoken(await core.snapshot(created(id)))[1];
    expect(words).toContain('1 (one): reported, not found yet');
    expect(words).toContain('2 (two): confirmed');
  });
});

describe('the verdict on a signature', () => {
  const signature = `0x${'ab'.repeat(65)}`;
  const typed_data = { primaryType: 'Mail', message: {} };

  async function verdict(isSigned: boolean | Error) {
    const clock = new FakeClock();
    const { chains, call, report, rig, core, id } = await walletCore({ clock, settings });
    chains.isSigned = (payload) => {
      expect(payload).toEqual({ kind: 'typed_data', typedData: typed_data });
      if (isSigned instanceof Error) throw isSigned;
      return isSigned;
    };
    await call('request_signature', { typed_data, description: 'mail' });
    const payload = { status: 'success', signature, pending_eip712_id: 1 };
    await report('wallet_eip712_response', payload);
    await clock.passUntil(rig.next());
    return spoken(await core.snapshot(created(id)))[1];
  }

  it('is confirmed, differs, or is not found yet', async () => {
    expect(await verdict(true)).toContain(`(mail): confirmed. Signature ${signature} by 0xbbb`);
    expect(await verdict(false)).toContain('(mail): differs from what was staged. Signature');
    expect(await verdict(new Error('no node responds'))).toContain(
      '(mail): reported, not found yet. Signature',
    );
  });
});

describe('list_wallet_requests after an interrupted verification', () => {
  it('verifies what the chain knows by now, and leaves the rest open', async () => {
    const { chains, request, report, call, core, id, store } = await walletCore();
    const looking = new Promise<void>((resolve) => {
      chains.transactions.set(`1:${HASH}`, () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    await request({ label: 'pay' });
    await report('wallet:tx_complete', success(1));
    await looking;
    await core.interrupt(created(id));
    chains.transactions.set(`1:${HASH}`, () => mined({ receipt: null }));
    const states = async () => field(await call('list_wallet_requests', {}), 'requests');
    expect(await states()).toMatchObject([{ state: 'reported, not verified yet', transaction: HASH }]);
    chains.transactions.set(`1:${HASH}`, () => mined());
    expect(await states()).toMatchObject([{ state: 'confirmed', detail: 'in block 123' }]);
    expect(await store.readWalletRequests(id, { ids: [1] })).toMatchObject([{ state: 'confirmed' }]);
    await core.send(message(id, 'And?'));
  });
});

describe('list_wallet_requests after a verdict "not found yet"', () => {
  it('verifies what was mined since, and keeps the verdict until then', async () => {
    const clock = new FakeClock();
    const { chains, request, report, call, rig, core, id } = await walletCore({ clock, settings });
    await request({ label: 'pay' });
    await report('wallet:tx_complete', success(1));
    (await clock.passUntil(rig.next())).text('Not yet.').end();
    await clock.advance(0);
    expect((await core.snapshot(created(id))).status).toBe('idle');
    const states = async () => field(await call('list_wallet_requests', {}), 'requests');
    const lost = { state: 'reported, not found yet', detail: 'the chain does not show it' };
    expect(await states()).toMatchObject([lost]);
    chains.transactions.set(`1:${HASH}`, () => mined({ receipt: null }));
    expect(await states()).toMatchObject([lost]);
    chains.transactions.set(`1:${HASH}`, () => mined());
    expect(await states()).toMatchObject([{ state: 'confirmed', detail: 'in block 123' }]);
    await call('stage_transaction', { to: SHOP, value: '2 wei', after: [1] });
  });

  it('looks until a day after the request expired, and not later', async () => {
    const clock = new FakeClock();
    const limits = { ...settings, walletRequestMs: 3_600_000 };
    const { chains, request, report, call, rig } = await walletCore({ clock, settings: limits });
    await request();
    const requestedAt = clock.monotonic();
    await report('wallet:tx_complete', success(1));
    (await clock.passUntil(rig.next())).text('Not yet.').end();
    const looks = async () => {
      const before = chains.lookedUp.length;
      expect(field(await call('list_wallet_requests', {}), 'requests')).toMatchObject([
        { state: 'reported, not found yet' },
      ]);
      return chains.lookedUp.length - before;
    };
    const untilMs = requestedAt + 3_600_000 + 86_400_000;
    clock.pass(untilMs - 1 - clock.monotonic());
    expect(await looks()).toBe(1);
    clock.pass(1);
    chains.transactions.set(`1:${HASH}`, () => mined());
    expect(await looks()).toBe(0);
  });

  it('looks for nothing when the wallet reported no hash', async () => {
    const { chains, request, report, call, rig } = await walletCore();
    await request({ label: 'pay' });
    await report('wallet:tx_complete', { ...success(1), txHash: '0x12' });
    (await rig.next()).text('Hm.').end();
    const states = async () => field(await call('list_wallet_requests', {}), 'requests');
    expect(await states()).toMatchObject([{ state: 'reported, not found yet' }]);
    expect(chains.lookedUp).toEqual([]);
  });
});
