import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { zeroAddress, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { walletSignatures } from '../../src/adapters/evm/wallet-signatures.js';
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

describe('sign-in messages', () => {
  const signatures = walletSignatures([]);

  it('are read', () => {
    expect(signatures.read(messageOf())).toEqual({
      domain: 'app.example.org',
      address: account.address,
      nonce: 'abcdefgh12345678',
      notBefore: -Infinity,
      expiresAt: Infinity,
    });
    const timed = messageOf({
      notBefore: new Date(2_000),
      expirationTime: new Date(3_000),
      statement: 'Sign in',
    });
    expect(signatures.read(timed)).toMatchObject({ notBefore: 2_000, expiresAt: 3_000 });
  });

  it.each([
    ['nothing', ''],
    ['other text', 'Please sign this'],
    ['another version', messageOf().replace('Version: 1', 'Version: 2')],
    ['no nonce', messageOf().replace(/Nonce: .*\n/, '')],
    ['a time that is none', messageOf().replace(/Issued At: .*/, 'Issued At: yesterday')],
    ['too much text', messageOf({ statement: 'x'.repeat(10_000) })],
  ])('are not read from %s', (_, text) => {
    expect(signatures.read(text)).toBeUndefined();
  });

  it('verify with the key that they name, and no other', async () => {
    const message = messageOf();
    const signature = await account.signMessage({ message });
    expect(await signatures.verify(message, signature)).toBe(true);
    expect(await signatures.verify(messageOf({ address: zeroAddress }), signature)).toBe(false);
    expect(await signatures.verify(message.replace('12345678', '12345679'), signature)).toBe(false);
    const other = privateKeyToAccount(generatePrivateKey());
    expect(await signatures.verify(message, await other.signMessage({ message }))).toBe(false);
    for (const junk of ['', '0x', 'junk', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`]) {
      expect(await signatures.verify(message, junk)).toBe(false);
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
    expect(await signatures.verify(message, signature)).toBe(true);
    const other = privateKeyToAccount(generatePrivateKey());
    expect(await signatures.verify(message, await other.signMessage({ message }))).toBe(false);
  });

  it('do not verify on a chain that is not configured, and fail where theirs does not answer', async () => {
    const message = messageOf({ address: wallet });
    const signature = await account.signMessage({ message });
    expect(await walletSignatures([]).verify(message, signature)).toBe(false);
    const dead = walletSignatures([{ id: CHAIN, name: 'Test', rpcUrls: ['http://127.0.0.1:1/'] }]);
    await expect(dead.verify(message, signature)).rejects.toThrow();
  });
});
