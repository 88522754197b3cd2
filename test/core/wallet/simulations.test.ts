import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { SimulationRequest } from '../../../src/core/model/simulation.js';
import { closeTestCores } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ScriptedChains, TEST_CHAINS } from '../../support/scripted-chains.js';
import { SHOP, WALLET, walletCore } from '../../support/wallet-core.js';

afterEach(closeTestCores);

const pay = { to: SHOP, value: '1500000', data: '0x', label: undefined };
const requestOf = (sessionId: string, fields: Partial<SimulationRequest> = {}): SimulationRequest => ({
  ...{ sessionId, transactions: [pay], from: undefined, chainId: undefined },
  ...fields,
});

describe('simulate', () => {
  it('runs the batch from the wallet of the session', async () => {
    const { core, id, chains } = await walletCore();
    const transactions = [pay, { ...pay, label: 'again', data: '0xab' }];
    expect(await core.simulate(requestOf(id, { transactions, chainId: 7 }))).toEqual({
      ...{ succeeded: true, stateful: true, from: WALLET, chain: { id: 7, name: 'Sixnet' } },
      ...{ totalGas: '42000', fee: TEST_CHAINS[1]?.fee },
      steps: [
        { label: 'Step 1', data: '0x' },
        { label: 'again', data: '0xab' },
      ].map((fields) => ({
        ...{ success: true, result: '0x', revertReason: null, gasUsed: '21000' },
        ...{ to: SHOP, value: '1500000', valueInUnits: '1.5' },
        ...fields,
      })),
    });
    expect(chains.simulated).toMatchObject([{ chainId: 7, from: WALLET }]);
  });

  it('prefers the given sender and resolves names', async () => {
    const { core, chains } = await walletCore();
    chains.names.set('a.eth', SHOP);
    const request = requestOf(randomUUID(), { from: 'a.eth', transactions: [{ ...pay, to: 'a.eth' }] });
    expect(await core.simulate(request)).toMatchObject({ from: SHOP, steps: [{ to: SHOP }] });
  });

  it('uses the connected chain if it is configured, else the first one', async () => {
    const { core, id, report } = await walletCore();
    const chainOf = async () => (await core.simulate(requestOf(id))).chain.id;
    expect(await chainOf()).toBe(1);
    await report('wallet:state_changed', { chainId: 7 });
    expect(await chainOf()).toBe(7);
    await report('wallet:state_changed', { chainId: 99 });
    expect(await chainOf()).toBe(1);
  });

  it('reports failures and unknown gas', async () => {
    const { core, id, chains } = await walletCore();
    chains.simulation = () =>
      Promise.resolve({
        stateful: false,
        steps: [{ success: false, result: null, revertReason: 'no funds', gasUsed: null }],
      });
    expect(await core.simulate(requestOf(id))).toMatchObject({
      ...{ succeeded: false, stateful: false, totalGas: null },
      steps: [{ success: false, revertReason: 'no funds' }],
    });
  });

  it.each<readonly [Partial<SimulationRequest>, string, string]>([
    [{ chainId: 99 }, 'chain_id', 'only 1, 7 are configured'],
    [{ from: 'nobody' }, 'from', 'nobody is not an address'],
    [{ transactions: [pay, { ...pay, to: 'nobody' }] }, 'transactions[1].to', 'nobody is not an address'],
    [{ transactions: [] }, 'transactions', '1 to 32'],
    [{ transactions: Array<typeof pay>(33).fill(pay) }, 'transactions', '1 to 32'],
  ])('refuses %j', async (fields, path, words) => {
    const { core, id } = await walletCore();
    await expect(core.simulate(requestOf(id, fields))).rejects.toMatchObject({
      ...{ reason: 'invalid', message: expect.stringContaining(words) },
      details: [{ path }],
    });
  });

  it('refuses a batch without a sender, and any without chains', async () => {
    const { core } = await walletCore();
    const unknown = requestOf(randomUUID());
    await expect(core.simulate(unknown)).rejects.toMatchObject({
      reason: 'invalid',
      details: [{ path: 'from' }],
    });
    const none = await walletCore({ chains: new ScriptedChains([]) });
    await expect(none.core.simulate(requestOf(none.id))).rejects.toThrow('no chain is configured');
  });

  it('says that the chain does not respond', async () => {
    const clock = new FakeClock();
    const { core, id, chains } = await walletCore({ clock, settings: { toolTimeoutMs: 5_000 } });
    chains.simulation = () => Promise.reject(new Error('The nodes of Testnet do not respond.'));
    await expect(core.simulate(requestOf(id))).rejects.toMatchObject({
      ...{ reason: 'unavailable', message: 'The nodes of Testnet do not respond.' },
    });
    chains.simulation = () => new Promise(() => undefined);
    const hanging = core.simulate(requestOf(id));
    hanging.catch(() => undefined);
    await expect(clock.passUntil(hanging)).rejects.toMatchObject({ reason: 'unavailable' });
  });
});
