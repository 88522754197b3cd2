import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { encodeFunctionData, parseAbi, parseEther, type Address } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { compileContracts } from '../support/contracts.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import type { Answer } from '../support/http.js';
import { startNodeProxy, type NodeProxy } from '../support/node-proxy.js';
import { ANY, CHAIN, chainsAt, WalletSession } from '../support/wallet-house.js';

jest.setTimeout(60_000);

const TOKEN = parseAbi(['function transfer(address to, uint256 amount) returns (bool)']);
const FEE = { recipient: `0x${'fe'.repeat(20)}`, amount_wei: '1', token: 'native' };

let anvil: Anvil;
let node: NodeProxy;
let wallet: string;
let friend: Address;
let token: Address;

let house: House;
let person: WalletSession;

beforeAll(async () => {
  const [started, contracts] = await Promise.all([startAnvil(CHAIN), compileContracts('Token.sol')]);
  anvil = started;
  node = await startNodeProxy(anvil.url);
  const code = contracts.get('Token');
  const [first, second] = anvil.accounts;
  if (code === undefined || first === undefined || second === undefined) throw new Error('nothing to use');
  [wallet, friend] = [first.toLowerCase(), second];
  token = await anvil.deploy(code, ['MUSH', 1_000n]);
});
afterAll(async () => {
  await node.close();
  await anvil.close();
});

beforeEach(async () => {
  house = await openHouse({ apps: [testApp({ wallet: ANY })], chains: chainsAt(node.url) });
  person = new WalletSession(house, house.rig, wallet);
});
afterEach(async () => {
  node.lacking.clear();
  await house.close();
});

const simulate = (body: object): Promise<Answer> => person.ask('POST', '/current/api/simulate', body);
const transfer = (to: Address, amount: bigint) => ({
  to: token,
  data: encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, amount] }),
});

describe('POST /api/simulate', () => {
  const most = { value: String(parseEther('9000')) };

  it('lets each transaction see those before it, where the node can', async () => {
    const { status, json } = await simulate({
      ...{ from: wallet, chain_id: String(CHAIN) },
      transactions: [
        { ...transfer(friend, 1_000n), label: 'All of it' },
        { ...transfer(friend, 1n), label: 'One more' },
        { to: friend, value: '0x1' },
      ],
    });
    expect([status, json]).toMatchObject([
      200,
      {
        result: {
          ...{ batch_success: false, stateful: true, from: wallet, network: 'Local', fee: FEE },
          steps: [
            { step: 1, label: 'All of it', success: true, gas_used: expect.any(Number) },
            { step: 2, label: 'One more', success: false, revert_reason: expect.stringContaining('0') },
            {
              ...{ step: 3, success: true, gas_used: 21_000 },
              tx: {
                ...{ to: friend.toLowerCase(), value_wei: '1' },
                ...{ value_eth: '0.000000000000000001', data: '0x' },
              },
            },
          ],
        },
      },
    ]);
  });

  it('runs each transaction alone on other nodes, and says so', async () => {
    node.lacking.add('eth_simulateV1');
    const { status, json } = await simulate({
      from: wallet,
      transactions: [transfer(friend, 1_000n), transfer(friend, 1n), { to: friend, ...most }],
    });
    expect([status, json]).toMatchObject([
      200,
      { result: { batch_success: true, stateful: false, steps: [{}, { success: true }, { success: true }] } },
    ]);
    expect(objectOf(objectOf(json).result).total_gas).toBeGreaterThan(63_000);
  });

  it('uses the wallet of the session, and refuses to guess one', async () => {
    const transactions = [{ to: friend, value: '1' }];
    const without = await simulate({ transactions });
    expect([without.status, objectOf(without.json).code]).toEqual([400, 'invalid']);
    await person.begin();
    expect(await simulate({ transactions })).toMatchObject({ json: { result: { from: wallet } } });
  });

  it('refuses a chain that is not configured', async () => {
    const transactions = [{ to: friend, chain_id: 5 }];
    const { status, json } = await simulate({ from: wallet, transactions });
    expect([status, json]).toMatchObject([400, { code: 'invalid', details: [{ path: 'chain_id' }] }]);
  });

  it('sends nothing', async () => {
    await simulate({ from: wallet, transactions: [{ to: friend, ...most }] });
    expect(node.methods.filter((method) => /send/i.test(method))).toEqual([]);
  });
});
