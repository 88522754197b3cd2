import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/mistakes.js';
import { readConfig } from '../../src/config.js';

const UPPER = `0x${'AB'.repeat(20)}`;
const LOWER = UPPER.toLowerCase();
const UNRESTRICTED = { chains: null, recipients: null, maxValue: null, maxDailyValue: null };

function chain(id: number, more = ''): string {
  return `{ id: ${String(id)}, name: C${String(id)}, rpcUrls: ['http://127.0.0.1:8545']${more} }`;
}

function read(yaml: string, env: Readonly<Record<string, string>> = {}) {
  return readConfig({ env, cwd: '/srv', readFile: () => yaml });
}

/** The policies of the Apps in a file, by name. */
async function policies(...lines: readonly string[]) {
  const { apps } = await read(lines.join('\n'));
  return Object.fromEntries(apps.map(({ name, wallet }) => [name, wallet]));
}

async function mistakesOf(...lines: readonly string[]): Promise<readonly string[]> {
  const error: unknown = await read(lines.join('\n')).catch((reason: unknown) => reason);
  if (error instanceof ConfigError)
    return error.message.split('\n').map((line) => line.replace('diptych.yaml: ', ''));
  throw new Error('was taken');
}

describe('the wallet policy of an App', () => {
  it('is null without chains, and does not restrict with some', async () => {
    expect(await policies('apps: [{ name: a }]')).toEqual({ default: null, a: null });
    expect(await policies(`chains: [${chain(1)}]`, 'apps: [{ name: a }, { name: b, wallet: }]')).toEqual({
      default: UNRESTRICTED,
      a: UNRESTRICTED,
      b: UNRESTRICTED,
    });
  });

  it('is null for false, also for the default App', async () => {
    const apps = 'apps: [{ name: default, wallet: false }, { name: a, wallet: {} }]';
    expect(await policies(`chains: [${chain(1)}]`, apps)).toEqual({ default: null, a: UNRESTRICTED });
    expect(await policies(apps.replace(', { name: a, wallet: {} }', ''))).toEqual({ default: null });
  });

  it('has chains, recipients in lower case, and amounts as decimal text', async () => {
    const wallet = `{ chains: [10, 1], recipients: ['${UPPER}'], maxValue: 0.5, maxDailyValue: '2.000000000000000001' }`;
    const { a } = await policies(
      `chains: [${chain(1)}, ${chain(10)}]`,
      `apps: [{ name: a, wallet: ${wallet} }]`,
    );
    expect(a).toEqual({
      chains: [10, 1],
      recipients: [LOWER],
      maxValue: '0.5',
      maxDailyValue: '2.000000000000000001',
    });
  });

  it.each([
    ['true', ': must have the keys chains, recipients, maxValue, maxDailyValue'],
    ['5', ': must have the keys'],
    ['{ max: 1 }', ': has unknown keys: max; known are chains, recipients, maxValue, maxDailyValue'],
    ['{ chains: [] }', '.chains: must name at least one chain; leave it out to allow all'],
    ['{ chains: 1 }', '.chains: must be a list'],
    ['{ chains: [x] }', '.chains[0]: must be a chain id: a whole number'],
    ['{ chains: [1, 5] }', '.chains[1]: there is no chain 5; there are 1, 137'],
    ['{ recipients: [] }', '.recipients: must name at least one recipient; leave it out to allow all'],
    ['{ recipients: [bob.eth] }', '.recipients[0]: must be an address: 0x and 40 hex digits'],
    ['{ maxValue: -1 }', '.maxValue: must be an amount such as 0.5, as text when it has many digits'],
    ['{ maxValue: 1.0e-9 }', '.maxValue: must be an amount such as 0.5, as text when it has many digits'],
    ['{ maxValue: 1 ETH }', '.maxValue: must be an amount'],
    ['{ maxValue: .inf }', '.maxValue: must be an amount'],
    ['{ maxValue: true }', '.maxValue: must be an amount'],
    [`{ maxValue: '${'9'.repeat(200)}' }`, '.maxValue: must be an amount'],
    [
      `{ maxValue: '${'9'.repeat(78)}' }`,
      '.maxValue: is no amount of the currency of chain 1, which has 18 decimals',
    ],
    [
      "{ maxDailyValue: '0.0000001' }",
      '.maxDailyValue: is no amount of the currency of chain 137, which has 6 decimals',
    ],
  ])('refuses %s in words', async (wallet, words) => {
    const chains = `chains: [${chain(1)}, ${chain(137, ', decimals: 6')}]`;
    const mistakes = await mistakesOf(chains, `apps: [{ name: a, wallet: ${wallet} }]`);
    expect(mistakes).toContainEqual(expect.stringContaining(`apps[0].wallet${words}`));
  });

  it('may have an amount that only its own chains can hold', async () => {
    const chains = `chains: [${chain(1)}, ${chain(137, ', decimals: 6')}]`;
    const { a } = await policies(
      chains,
      "apps: [{ name: a, wallet: { chains: [1], maxValue: '0.0000001' } }]",
    );
    expect(a).toMatchObject({ maxValue: '0.0000001' });
  });

  it('is a mistake where no chain is configured', async () => {
    expect(await mistakesOf('apps: [{ name: a, wallet: { maxValue: 1 } }]')).toEqual([
      'apps[0].wallet: is for chains, and none is configured; leave it out',
    ]);
    expect(await mistakesOf('apps: [{ name: a, wallet: { chains: [1] } }]')).toEqual([
      'apps[0].wallet.chains[0]: there is no chain 1; there are none',
    ]);
  });
});

describe('the fee of a chain', () => {
  it('has a recipient and an amount in wei', async () => {
    for (const amount of ['1', "'1'"]) {
      const fee = `, fee: { recipient: '${UPPER}', amountWei: ${amount} }`;
      const { tools } = await read(`chains: [${chain(1, fee)}, ${chain(2)}]`);
      expect(tools.chains.map((configured) => configured.fee)).toEqual([
        { recipient: UPPER, amountWei: '1' },
        undefined,
      ]);
    }
  });

  it.each([
    [`{ recipient: '${LOWER}' }`, '.amountWei: must be a whole number of wei, 1 or more'],
    [`{ recipient: '${LOWER}', amountWei: 0 }`, '.amountWei: must be a whole number of wei'],
    [`{ recipient: '${LOWER}', amountWei: '0x1' }`, '.amountWei: must be a whole number of wei'],
    [`{ recipient: '${LOWER}', amountWei: 0.5 }`, '.amountWei: must be a whole number of wei'],
    [
      `{ recipient: '${LOWER}', amountWei: '${'9'.repeat(79)}' }`,
      '.amountWei: must be a whole number of wei',
    ],
    ['{ recipient: bob.eth, amountWei: 1 }', '.recipient: must be an address'],
    ['1', ': must have the keys recipient, amountWei'],
  ])('refuses %s in words', async (fee, words) => {
    const mistakes = await mistakesOf(`chains: [${chain(1, `, fee: ${fee}`)}]`);
    expect(mistakes).toContainEqual(expect.stringContaining(`chains[0].fee${words}`));
  });
});

describe('WALLET_REQUEST_TTL and WALLET_CONFIRM_TIMEOUT', () => {
  it('are in seconds', async () => {
    const config = await read('', { WALLET_REQUEST_TTL: '3600', WALLET_CONFIRM_TIMEOUT: '2.5' });
    expect([config.walletRequestMs, config.walletConfirmMs]).toEqual([3_600_000, 2_500]);
    for (const name of ['WALLET_REQUEST_TTL', 'WALLET_CONFIRM_TIMEOUT']) {
      for (const wrong of ['0', '1h', '-1', '99999999']) {
        await expect(read('', { [name]: wrong })).rejects.toThrow(`${name}: must be a number of seconds`);
      }
    }
  });
});
