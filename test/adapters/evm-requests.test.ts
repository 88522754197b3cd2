import { EventEmitter, once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  concat,
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  hashTypedData,
  http,
  parseAbi,
  serializeErc6492Signature,
  type Abi,
  type Address,
  type Hex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { ChainError } from '../../src/adapters/tools/evm/chain-error.js';
import { createChains } from '../../src/adapters/tools/evm/requests/create-chains.js';
import type { ChainSettings } from '../../src/adapters/tools/evm/settings.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type { Chains, SignedPayload, SimulatedCall } from '../../src/core/ports/chains.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { answering, closeAnswering } from '../support/answering.js';
import { compileContracts, type Artefact } from '../support/contracts.js';
import { objectOf } from '../support/house.js';
import { sendFrom } from '../support/wallet-house.js';

jest.setTimeout(30_000);

const CHAIN = 31_337;
const ADDRESS = '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed';
const POOR = `0x${'ab'.repeat(20)}`;
const HASH = `0x${'cd'.repeat(32)}`;
const NEVER = new AbortController().signal;
const TOKEN: Abi = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function symbol() view returns (string)',
  'function failWithReason()',
  'function failWithPanic(uint256 zero)',
  'function failWithUnheard()',
  'function failSilently()',
]);

const account = privateKeyToAccount(generatePrivateKey());

let anvil: Anvil;
let rich: string;
let token: Address;
let wallet: Address;
let walletCode: Artefact;

function settings(
  url: string,
  more: Partial<ChainSettings> = {},
): { readonly chains: readonly ChainSettings[] } {
  const tokens = [{ symbol: 'MUSH', address: token }];
  return { chains: [{ id: CHAIN, name: 'Local', rpcUrls: [url], tokens, ...more }] };
}

beforeAll(async () => {
  const [node, contracts] = await Promise.all([
    startAnvil(CHAIN),
    compileContracts('Token.sol', 'Wallet.sol'),
  ]);
  anvil = node;
  rich = (anvil.accounts[0] ?? '').toLowerCase();
  const [tokenCode, found] = [contracts.get('Token'), contracts.get('Wallet')];
  if (tokenCode === undefined || found === undefined) throw new Error('no contract');
  walletCode = found;
  token = await anvil.deploy(tokenCode, ['MUSH', 1_000_000n]);
  wallet = await anvil.deploy(walletCode, [account.address]);
});
afterAll(() => anvil.close());
afterEach(closeAnswering);

type Names =
  | 'transfer'
  | 'balanceOf'
  | 'symbol'
  | 'failWithReason'
  | 'failWithPanic'
  | 'failWithUnheard'
  | 'failSilently';

function call(functionName: Names, args: readonly unknown[] = []): SimulatedCall {
  const data = encodeFunctionData({ abi: TOKEN, functionName, args });
  return { to: token.toLowerCase(), value: '0', data };
}

function pay(to: string, value: bigint): SimulatedCall {
  return { to, value: String(value), data: '0x' };
}

/** A proxy in front of the node which refuses `eth_simulateV1`. Collects the methods of the requests. */
async function withoutSimulation(error: JsonObject) {
  const methods: (JsonValue | undefined)[] = [];
  const port = await answering((res, req) => {
    void text(req).then(async (body) => {
      const { method } = objectOf(JSON.parse(body));
      methods.push(method);
      res.writeHead(200, { 'content-type': 'application/json' });
      if (method === 'eth_simulateV1') {
        res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
        return;
      }
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(anvil.url, { method: 'POST', headers, body });
      res.end(await response.text());
    });
  });
  return { url: `http://127.0.0.1:${String(port)}`, methods };
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error('it did not fail');
}

describe('list', () => {
  it('gives the configured chains with their fees, the first as the default', () => {
    const fee = { recipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', amountWei: '7' };
    const { chains } = settings('http://127.0.0.1:1', { fee });
    const other = { id: 137, name: 'Polygon', rpcUrls: ['http://127.0.0.1:1'], symbol: 'POL', decimals: 6 };
    expect(createChains({ chains: [...chains, other] }).list()).toEqual([
      { id: CHAIN, name: 'Local', symbol: 'ETH', decimals: 18, fee: { recipient: ADDRESS, amountWei: '7' } },
      { id: 137, name: 'Polygon', symbol: 'POL', decimals: 6, fee: null },
    ]);
    expect(createChains({ chains: [] }).list()).toEqual([]);
  });
});

describe('a chain that is not configured', () => {
  it('fails every request in words', async () => {
    const chains = createChains(settings('http://127.0.0.1:1'));
    const words = 'Chain 5 is not configured. Configured are 31337 (Local).';
    const payload: SignedPayload = { kind: 'text', text: 'x' };
    for (const request of [
      chains.resolveAddress(5, ADDRESS, NEVER),
      chains.encodeCall(5, 'f()', [], NEVER),
      chains.simulate(5, ADDRESS, [], NEVER),
      chains.estimateGas(5, ADDRESS, pay(ADDRESS, 1n), NEVER),
      chains.nonceOf(5, ADDRESS, NEVER),
      chains.findTransaction(5, HASH, NEVER),
      chains.isSignedBy(5, ADDRESS, payload, '0x00', NEVER),
    ]) {
      await expect(request).rejects.toThrow(words);
    }
    expect(() => {
      chains.checkTypedData(5, {});
    }).toThrow(words);
  });
});

describe('resolveAddress and encodeCall', () => {
  it('resolve addresses and symbols of tokens without a request', async () => {
    const chains = createChains(settings('http://127.0.0.1:1'));
    const resolve = (given: string) => chains.resolveAddress(CHAIN, given, NEVER);
    await expect(resolve(' 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed')).resolves.toBe(ADDRESS);
    await expect(resolve('mush')).resolves.toBe(token.toLowerCase());
    await expect(resolve('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD')).rejects.toThrow('wrong checksum');
    await expect(resolve('nobody')).rejects.toThrow('"nobody" is not an address');
    await expect(resolve('bob.eth')).rejects.toThrow('no configured chain has a name service');
  });

  it('encode a call, and refuse what does not fit', async () => {
    const chains = createChains(settings('http://127.0.0.1:1'));
    const encode = (signature: string, args: readonly JsonValue[]) =>
      chains.encodeCall(CHAIN, signature, args, NEVER);
    const { data } = call('transfer', [ADDRESS, 5n]);
    await expect(encode('function transfer(address to, uint256 amount)', [ADDRESS, '5'])).resolves.toBe(data);
    await expect(encode('transfer(address, uint256)', [ADDRESS])).rejects.toThrow(
      'args: must be a list of 2',
    );
    await expect(encode('transfer(', [])).rejects.toThrow('cannot be read');
    await expect(encode('f(uint8[4294967295])', [[]])).rejects.toThrow('more than 4096 values');
  });
});

describe('simulate', () => {
  let chains: Chains;
  beforeAll(() => {
    chains = createChains(settings(anvil.url));
  });
  const simulate = (from: string, ...calls: readonly SimulatedCall[]) =>
    chains.simulate(CHAIN, from, calls, NEVER);

  it('shows each call what the calls before it did', async () => {
    const calls = [call('transfer', [ADDRESS, 250n]), call('balanceOf', [ADDRESS]), pay(ADDRESS, 1n)];
    await expect(simulate(rich, ...calls)).resolves.toEqual({
      stateful: true,
      steps: [
        {
          success: true,
          result: `0x${'1'.padStart(64, '0')}`,
          revertReason: null,
          gasUsed: expect.any(String),
        },
        {
          success: true,
          result: `0x${'fa'.padStart(64, '0')}`,
          revertReason: null,
          gasUsed: expect.any(String),
        },
        { success: true, result: '0x', revertReason: null, gasUsed: '21000' },
      ],
    });
    await expect(simulate(rich)).resolves.toEqual({ stateful: true, steps: [] });
  });

  it.each<[Names, readonly unknown[], string]>([
    ['failWithReason', [], 'the market is closed'],
    ['failWithPanic', [0n], 'division by zero'],
    ['failWithUnheard', [], 'an unknown error, 0x'],
    ['failSilently', [], 'without a reason'],
  ])('says why %s fails', async (name, args, reason) => {
    const { stateful, steps } = await simulate(rich, call(name, args));
    expect({ stateful, steps }).toEqual({
      stateful: true,
      steps: [
        {
          success: false,
          result: null,
          revertReason: expect.stringContaining(reason),
          gasUsed: expect.any(String),
        },
      ],
    });
  });

  it('says that a call reaches an invalid instruction, also where the node simulates no batches', async () => {
    const to = (await anvil.deploy({ abi: [], bytecode: '0x60fe60005360016000f3' })).toLowerCase();
    const halting = { to, value: '0', data: '0x12345678' };
    const { url } = await withoutSimulation({ code: -32_601, message: 'no such method' });
    for (const node of [anvil.url, url]) {
      const { steps } = await createChains(settings(node)).simulate(CHAIN, rich, [halting], NEVER);
      expect(steps).toMatchObject([
        { success: false, result: null, revertReason: 'it reaches an invalid instruction' },
      ]);
    }
  });

  it('goes on after a call that fails', async () => {
    const { steps } = await simulate(rich, pay(ADDRESS, 1n), call('failWithReason'), pay(ADDRESS, 1n));
    expect(steps.map(({ success }) => success)).toEqual([true, false, true]);
  });

  it('fails the call for which the sender lacks the funds, and simulates those before it', async () => {
    const lacks = 'The sender does not have enough ETH for the value and the gas.';
    expect((await simulate(POOR, pay(ADDRESS, 1n))).steps).toEqual([
      { success: false, result: null, revertReason: lacks, gasUsed: null },
    ]);
    const calls = Array.from({ length: 9 }, (_, n) => pay(ADDRESS, n === 5 ? 10n ** 30n : 1n));
    const { steps } = await simulate(rich, ...calls);
    expect(steps.map(({ success }) => success)).toEqual([
      ...Array<boolean>(5).fill(true),
      false,
      false,
      false,
      false,
    ]);
    expect(steps[5]?.revertReason).toBe(lacks);
    expect(steps[6]?.revertReason).toBe('It was not simulated, because a call before it cannot be made.');
  });

  it.each([
    { code: -32_601, message: 'the method eth_simulateV1 does not exist' },
    { code: -32_004, message: 'Method not supported' },
  ])('tries calls one by one where the node answers %j, which it remembers', async (error) => {
    const { url, methods } = await withoutSimulation(error);
    const plain = createChains(settings(url));
    const calls = [
      pay(ADDRESS, 1n),
      call('failWithReason'),
      call('transfer', [ADDRESS, 5n]),
      call('balanceOf', [ADDRESS]),
    ];
    const { stateful, steps } = await plain.simulate(CHAIN, rich, calls, NEVER);
    expect(stateful).toBe(false);
    expect(steps).toMatchObject([
      { success: true, result: '0x', gasUsed: '21000' },
      { success: false, result: null, revertReason: 'the market is closed', gasUsed: null },
      { success: true, result: `0x${'1'.padStart(64, '0')}`, revertReason: null },
      { success: true, result: `0x${'0'.padStart(64, '0')}` },
    ]);
    const poor = await plain.simulate(CHAIN, POOR, [pay(ADDRESS, 1n)], NEVER);
    expect(poor.steps[0]?.revertReason).toContain('not have enough ETH');
    expect(methods.filter((method) => method === 'eth_simulateV1')).toHaveLength(1);
  });

  describe('fails a call with data to an address without a contract', () => {
    const missing = (to: string, gasUsed: unknown) => ({
      ...{ success: false, result: null, gasUsed },
      revertReason: `There is no contract at ${to} on Local.`,
    });
    /** Its code is one STOP: it takes every call, and returns nothing. */
    const silent = { abi: [], bytecode: '0x60016000f3' } as const;
    /** Anvil has this factory from the start: it creates a contract from the salt and the code in the data. */
    const factory = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
    const salt = `0x${'07'.repeat(32)}` as const;
    const { bytecode } = silent;
    const future = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode }).toLowerCase();
    const poke = (to: string): SimulatedCall => ({ to, value: '0', data: '0x12345678' });
    const create: SimulatedCall = { to: factory, value: '0', data: concat([salt, bytecode]) };

    it('and not one to a contract that returns nothing, nor a payment', async () => {
      const there = (await anvil.deploy(silent)).toLowerCase();
      const { steps } = await simulate(rich, poke(there), pay(POOR, 1n));
      expect(steps.map(({ success }) => success)).toEqual([true, true]);
      const others = await simulate(rich, pay(POOR, 1n), poke(POOR), poke(ADDRESS));
      expect(others.steps.slice(1)).toEqual([
        missing(POOR, expect.any(String)),
        missing(ADDRESS, expect.any(String)),
      ]);
    });

    it('unless a call before it may have created the contract', async () => {
      const { steps } = await simulate(rich, create, poke(future));
      expect(steps.map(({ success }) => success)).toEqual([true, true]);
      expect((await simulate(rich, poke(future), create)).steps[0]).toEqual(
        missing(future, expect.any(String)),
      );
    });

    it('where the node cannot simulate a batch, too', async () => {
      const { url } = await withoutSimulation({ code: -32_601, message: 'no such method' });
      const plain = createChains(settings(url));
      const { steps } = await plain.simulate(CHAIN, rich, [create, poke(future)], NEVER);
      expect(steps[1]).toEqual(missing(future, expect.any(String)));
    });
  });

  it('fails, and does not fall back, where the node answers anything else', async () => {
    const { url, methods } = await withoutSimulation({ code: -32_602, message: 'secret words of the node' });
    const error = await failureOf(
      createChains(settings(url)).simulate(CHAIN, rich, [pay(ADDRESS, 1n)], NEVER),
    );
    expect(error).toBeInstanceOf(ChainError);
    expect(error.message).toBe('The node of Local refused the request (code -32602).');
    expect(methods).toEqual(['eth_simulateV1']);
  });
});

describe('estimateGas', () => {
  it('gives a limit that suffices, also where the chain refunds a part', async () => {
    const chains = createChains(settings(anvil.url));
    // Sets three slots when it is created, and clears them when it is called.
    const code = '600160015560016002556001600355600d60195f39600d5ff35f6001555f6002555f60035500';
    const contract = (await anvil.deploy({ abi: [], bytecode: `0x${code}` })).toLowerCase();
    const clear: SimulatedCall = { to: contract, value: '0', data: '0x12345678' };
    const [step] = (await chains.simulate(CHAIN, rich, [clear], NEVER)).steps;
    const gas = Number(await chains.estimateGas(CHAIN, rich, clear, NEVER));
    expect(gas).toBeGreaterThan(Number(step?.gasUsed));
    const hash = await sendFrom(anvil.url, { from: rich, to: contract, data: clear.data, gas });
    const { receipt } = (await chains.findTransaction(CHAIN, hash, NEVER)) ?? {};
    expect(receipt).toMatchObject({ succeeded: true, gasUsed: step?.gasUsed });
    await expect(chains.estimateGas(CHAIN, rich, pay(ADDRESS, 1n), NEVER)).resolves.toBe('21000');
  });

  it('fails for a call that fails', async () => {
    const chains = createChains(settings(anvil.url));
    await expect(chains.estimateGas(CHAIN, rich, call('failWithReason'), NEVER)).rejects.toThrow(ChainError);
  });
});

describe('nonceOf and findTransaction', () => {
  it('find what was sent, first pending, then mined', async () => {
    const chains = createChains(settings(anvil.url));
    const nonce = await chains.nonceOf(CHAIN, rich, NEVER);
    await expect(chains.nonceOf(CHAIN, POOR, NEVER)).resolves.toBe(0);
    const [, second] = anvil.accounts;
    if (second === undefined) throw new Error('no account');
    const hash = await anvil.sendPending(second, 5n);
    const sent = { from: rich, to: second.toLowerCase(), value: '5', data: '0x', nonce, delegates: false };
    await expect(chains.findTransaction(CHAIN, hash, NEVER)).resolves.toEqual({ ...sent, receipt: null });
    // One that is only sent counts too: it is older than what is staged now.
    await expect(chains.nonceOf(CHAIN, rich, NEVER)).resolves.toBe(nonce + 1);
    await anvil.mine();
    const receipt = { succeeded: true, blockNumber: expect.stringMatching(/^[1-9]\d*$/), gasUsed: '21000' };
    await expect(
      chains.findTransaction(CHAIN, hash.toUpperCase().replace('0X', '0x'), NEVER),
    ).resolves.toEqual({
      ...sent,
      receipt,
    });
    await expect(chains.nonceOf(CHAIN, rich, NEVER)).resolves.toBe(nonce + 1);
  });

  it('find the data of a call, and a contract that was created', async () => {
    const chains = createChains(settings(anvil.url));
    const { data } = call('transfer', [ADDRESS, 1n]);
    const contract = { abi: TOKEN, bytecode: '0x' } as const;
    const { transactionHash } = await anvil.write(token, contract, 'transfer', [ADDRESS, 1n]);
    await expect(chains.findTransaction(CHAIN, transactionHash, NEVER)).resolves.toMatchObject({
      to: token.toLowerCase(),
      data,
      receipt: { succeeded: true },
    });
  });

  it('find that a transaction also delegates an account', async () => {
    const delegating = privateKeyToAccount(generatePrivateKey());
    await anvil.send(delegating.address, 10n ** 18n);
    const sender = createWalletClient({
      account: delegating,
      chain: { ...foundry, id: CHAIN },
      transport: http(anvil.url),
    });
    const contractAddress = wallet;
    const authorization = await sender.signAuthorization({ contractAddress, executor: 'self' });
    const hash = await sender.sendTransaction({ to: ADDRESS, value: 1n, authorizationList: [authorization] });
    const found = await createChains(settings(anvil.url)).findTransaction(CHAIN, hash, NEVER);
    expect(found).toMatchObject({ from: delegating.address.toLowerCase(), to: ADDRESS, delegates: true });
  });

  it('do not know what was never sent, and what is no hash', async () => {
    const chains = createChains(settings(anvil.url));
    for (const text of [HASH, '', '0x12', `${HASH}00`, 'junk']) {
      await expect(chains.findTransaction(CHAIN, text, NEVER)).resolves.toBeUndefined();
    }
  });
});

describe('findTransaction with several nodes', () => {
  /** A node that knows no transaction. */
  async function behind(): Promise<string> {
    const port = await answering((res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: null }));
    });
    return `http://127.0.0.1:${String(port)}`;
  }
  const dead = 'http://127.0.0.1:1';
  const find = async (rpcUrls: readonly string[], hash: string) =>
    createChains(settings('', { rpcUrls })).findTransaction(CHAIN, hash, NEVER);

  it('asks the others when the first one does not know the transaction', async () => {
    const { transactionHash } = await anvil.send(account.address, 7n);
    const stale = await behind();
    for (const rpcUrls of [
      [stale, anvil.url],
      [dead, stale, anvil.url],
      [stale, dead, anvil.url],
    ])
      expect(await find(rpcUrls, transactionHash)).toMatchObject({
        value: '7',
        receipt: { succeeded: true },
      });
  });

  it('does not know it when none of those that respond does', async () => {
    const stale = await behind();
    for (const rpcUrls of [
      [stale, dead],
      [dead, stale],
      [stale, anvil.url],
    ])
      expect(await find(rpcUrls, HASH)).toBeUndefined();
    await expect(find([dead, dead], HASH)).rejects.toThrow('The node of Local cannot be reached.');
  });
});

describe('isSignedBy', () => {
  const typedData = {
    types: {
      EIP712Domain: [{ name: 'chainId', type: 'uint256' }],
      Order: [
        { name: 'amount', type: 'uint256' },
        { name: 'to', type: 'address' },
      ],
    },
    primaryType: 'Order',
    domain: { chainId: CHAIN },
    message: { amount: '1000000000000000000000', to: ADDRESS },
  } as const;
  const text: SignedPayload = { kind: 'text', text: 'I agree.\nÜ' };
  const typed: SignedPayload = { kind: 'typed_data', typedData };
  const signedText = () => account.signMessage({ message: 'I agree.\nÜ' });
  const signedData = () => {
    const given: unknown = typedData;
    return account.sign({ hash: hashTypedData(given as Parameters<typeof hashTypedData>[0]) });
  };

  it('verifies the signature of a key without the chain', async () => {
    const chains = createChains(settings('http://127.0.0.1:1'));
    const isSigned = (payload: SignedPayload, signature: string) =>
      chains.isSignedBy(CHAIN, account.address.toLowerCase(), payload, signature, NEVER);
    await expect(isSigned(text, await signedText())).resolves.toBe(true);
    await expect(isSigned(typed, await signedData())).resolves.toBe(true);
    // What a key did not sign may be a contract's, and its chain does not answer.
    await expect(isSigned(text, await signedData())).rejects.toThrow('The node of Local cannot be reached.');
  });

  it('verifies the signature of a contract by its chain', async () => {
    const chains = createChains(settings(anvil.url));
    const isSigned = (payload: SignedPayload, signature: string, address: string = wallet) =>
      chains.isSignedBy(CHAIN, address.toLowerCase(), payload, signature, NEVER);
    await expect(isSigned(text, await signedText())).resolves.toBe(true);
    await expect(isSigned(typed, await signedData())).resolves.toBe(true);
    await expect(isSigned(text, await signedData())).resolves.toBe(false);
    await expect(isSigned(typed, await signedText())).resolves.toBe(false);
    await expect(isSigned(text, await signedText(), rich)).resolves.toBe(false);
  });

  it('verifies the signature of a contract that is not deployed yet', async () => {
    const chains = createChains(settings(anvil.url));
    // The factory that anvil has from the start: it deploys what follows the salt.
    const factory = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
    const salt = `0x${'00'.repeat(32)}` as const;
    const bytecode = encodeDeployData({ ...walletCode, args: [account.address] });
    const address = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode }).toLowerCase();
    const data = concat([salt, bytecode]);
    const wrapped = async (payload: Promise<Hex>) =>
      serializeErc6492Signature({ address: factory, data, signature: await payload });
    const isSigned = (signature: string) => chains.isSignedBy(CHAIN, address, text, signature, NEVER);
    await expect(isSigned(await wrapped(signedText()))).resolves.toBe(true);
    await expect(isSigned(await wrapped(signedData()))).resolves.toBe(false);
  });

  it('refuses a malformed signature', async () => {
    const dead = createChains(settings('http://127.0.0.1:1'));
    for (const junk of ['', '0x', 'junk', '0x1', '0xzz', `0x${'00'.repeat(20_000)}`]) {
      await expect(dead.isSignedBy(CHAIN, wallet.toLowerCase(), text, junk, NEVER)).resolves.toBe(false);
    }
    const chains = createChains(settings(anvil.url));
    const wrapped = [`0x${'ab'.repeat(40)}${'6492'.repeat(16)}`, `0x${'00'.repeat(64)}${'8010'.repeat(16)}`];
    for (const junk of ['0x00', `0x${'ff'.repeat(65)}`, `0x${'ff'.repeat(4_000)}`, ...wrapped]) {
      await expect(chains.isSignedBy(CHAIN, wallet.toLowerCase(), text, junk, NEVER)).resolves.toBe(false);
    }
  });

  it('refuses typed data that is malformed in words', async () => {
    const chains = createChains(settings(anvil.url));
    const payload: SignedPayload = { kind: 'typed_data', typedData: { ...typedData, message: {} } };
    const request = chains.isSignedBy(CHAIN, ADDRESS, payload, await signedText(), NEVER);
    await expect(request).rejects.toThrow('message.amount: must be an integer');
  });
});

describe('an aborted signal', () => {
  it('ends a request with its reason', async () => {
    const arrivals = new EventEmitter();
    const asked = once(arrivals, 'request');
    const port = await answering(() => arrivals.emit('request'));
    const chains = createChains(settings(`http://127.0.0.1:${String(port)}`));
    const controller = new AbortController();
    const request = failureOf(chains.findTransaction(CHAIN, HASH, controller.signal));
    await asked;
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await request).toBe(reason);
    await expect(chains.nonceOf(CHAIN, rich, controller.signal)).rejects.toBe(reason);
  });
});
