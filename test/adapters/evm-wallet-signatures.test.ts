import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import { zeroAddress, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { walletSignatures } from '../../src/adapters/tools/evm/wallets/wallet-signatures.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { compileContracts } from '../support/contracts.js';

const CHAIN = 31_337;
const account = privateKeyToAccount(generatePrivateKey());

type Fields = Partial<Parameters<typeof createSiweMessage>[0]>;

function messageOf(fields: Fields = {}): string {
  return createSiweMessage({
    address: account.address,
    chainId: CHAIN,
    domain: 'app.example.org',
    nonce: 'abcdefgh12345678',
    uri: 'https://app.example.org/login',
    version: '1',
    issuedAt: new Date(1_000),
    ...fields,
  });
}

describe('the signatures of keys', () => {
  const signatures = walletSignatures([]);

  it('verify for the address of the key, and no other', async () => {
    const message = messageOf();
    const signature = await account.signMessage({ message });
    expect(await signatures.verify(message, signature)).toEqual({ kind: 'key' });
    expect(await signatures.verify(messageOf({ address: zeroAddress }), signature)).toBeUndefined();
    expect(await signatures.verify(message.replace('12345678', '12345679'), signature)).toBeUndefined();
    const other = privateKeyToAccount(generatePrivateKey());
    expect(await signatures.verify(message, await other.signMessage({ message }))).toBeUndefined();
    const long = `0x${'00'.repeat(500_000)}`;
    for (const junk of ['', '0x', 'junk', '0x1', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`, long]) {
      expect(await signatures.verify(message, junk)).toBeUndefined();
    }
  });
});

describe('contract wallets', () => {
  let anvil: Anvil;
  let wallet: Address;

  beforeAll(async () => {
    const [node, contracts] = await Promise.all([startAnvil(CHAIN), compileContracts('Wallet.sol')]);
    anvil = node;
    const contract = contracts.get('Wallet');
    if (contract === undefined) throw new Error('Wallet.sol has no Wallet');
    wallet = await anvil.deploy(contract, [account.address]);
  });
  afterAll(() => anvil.close());

  it('verify by their chain', async () => {
    const signatures = walletSignatures([{ id: CHAIN, name: 'Test', rpcUrls: [anvil.url] }]);
    const message = messageOf({ address: wallet });
    const signature = await account.signMessage({ message });
    expect(await signatures.verify(message, signature)).toEqual({ kind: 'contract', chainId: CHAIN });
    const other = privateKeyToAccount(generatePrivateKey());
    expect(await signatures.verify(message, await other.signMessage({ message }))).toBeUndefined();
  });

  it('are asked of no chain that is not named for sign-in', async () => {
    const asked: string[] = [];
    const other = createServer((req, res) => {
      asked.push(req.url ?? '');
      res.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    try {
      const signatures = walletSignatures([
        { id: 10, name: 'Other', rpcUrls: [`http://127.0.0.1:${port}/`] },
      ]);
      const message = messageOf({ address: wallet });
      expect(await signatures.verify(message, await account.signMessage({ message }))).toBeUndefined();
      expect(asked).toEqual([]);
    } finally {
      other.close();
    }
  });

  it('are not verified by what cannot be a signature, and that is no fault of their chain', async () => {
    const signatures = walletSignatures([{ id: CHAIN, name: 'Test', rpcUrls: [anvil.url] }]);
    const message = messageOf({ address: wallet });
    const wrapped = [`0x${'ab'.repeat(40)}${'6492'.repeat(16)}`, `0x${'00'.repeat(64)}${'8010'.repeat(16)}`];
    for (const junk of ['0x00', `0x${'ff'.repeat(4_000)}`, ...wrapped]) {
      expect(await signatures.verify(message, junk)).toBeUndefined();
    }
  });

  it('do not verify on a chain that is not configured, and fail where theirs does not answer', async () => {
    const message = messageOf({ address: wallet });
    const signature = await account.signMessage({ message });
    expect(await walletSignatures([]).verify(message, signature)).toBeUndefined();
    const dead = walletSignatures([{ id: CHAIN, name: 'Test', rpcUrls: ['http://127.0.0.1:1/'] }]);
    await expect(dead.verify(message, signature)).rejects.toThrow();
  });
});
