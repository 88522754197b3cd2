import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatUnits } from '../../../src/core/model/amount.js';
import type { JsonObject } from '../../../src/core/model/json.js';
import type { SignaturePayload, WalletPolicy } from '../../../src/core/model/wallet-request.js';
import {
  dailyLimit,
  overDaily,
  signatureProblem,
  startOfDay,
  transactionProblem,
} from '../../../src/core/wallet/wallet-policy.js';
import { ACCOUNT_MESSAGES, OTHER_MESSAGES, typedDataOf } from '../../support/account-messages.js';
import { TEST_CHAINS } from '../../support/scripted-chains.js';
import { NO_LIMITS, SHOP } from '../../support/wallet-core.js';

const [ether, six] = TEST_CHAINS as [(typeof TEST_CHAINS)[0], (typeof TEST_CHAINS)[0]];
const STRANGER = `0x${'c'.repeat(40)}`;
const word = (hex: string) => hex.replace('0x', '').padStart(64, '0');
const MAX = 2n ** 256n - 1n;
const plain = { to: SHOP, value: 1n, data: '0x' };
const typed = (typedData: JsonObject): SignaturePayload => ({ kind: 'signature', typedData, text: null });
const text = (given: string): SignaturePayload => ({ kind: 'signature', typedData: null, text: given });

describe('transactionProblem', () => {
  it('finds none without limits, whatever the value', () => {
    for (const value of [0n, 1n, 10n ** 77n, MAX])
      expect(transactionProblem(NO_LIMITS, ether, { ...plain, value })).toBeUndefined();
  });

  it('refuses chains that are not allowed', () => {
    expect(transactionProblem({ ...NO_LIMITS, chains: [1] }, six, plain)).toContain('Sixnet');
    expect(transactionProblem({ ...NO_LIMITS, chains: [1] }, ether, plain)).toBeUndefined();
    expect(transactionProblem({ ...NO_LIMITS, chains: [] }, ether, plain)).toContain('Testnet');
  });

  it('compares values exactly', () => {
    const decimals = fc.constantFrom(0, 6, 18, 77);
    const amount = fc.bigInt({ min: 0n, max: MAX });
    fc.assert(
      fc.property(amount, amount, decimals, (limit, value, places) => {
        const chain = { ...ether, decimals: places };
        const policy = { ...NO_LIMITS, maxValue: formatUnits(limit, places) };
        const problem = transactionProblem(policy, chain, { ...plain, value });
        expect(problem === undefined).toBe(value <= limit);
      }),
    );
  });

  it('allows no value by a limit that the currency cannot express', () => {
    for (const maxValue of ['1e-19', '0.0000000000000000001', 'much', '']) {
      const policy = { ...NO_LIMITS, maxValue };
      expect(transactionProblem(policy, ether, plain)).toContain('more than');
      expect(transactionProblem(policy, ether, { ...plain, value: 0n })).toBeUndefined();
    }
  });

  describe('with recipients', () => {
    const policy = { ...NO_LIMITS, recipients: [SHOP] };
    const problemOf = (data: string, to = SHOP) => transactionProblem(policy, ether, { ...plain, to, data });

    it('refuses others', () => {
      expect(problemOf('0x')).toBeUndefined();
      expect(problemOf('0x', STRANGER)).toContain(STRANGER);
    });

    it.each([
      ['transfer', `0xa9059cbb${word(STRANGER)}${word('0x1')}`],
      ['transferFrom', `0x23b872dd${word(SHOP)}${word(STRANGER)}${word('0x1')}`],
      ['approve', `0x095ea7b3${word(STRANGER)}${word('0x1')}`],
      ['increaseAllowance', `0x39509351${word(STRANGER)}${word('0x1')}`],
      ['setApprovalForAll', `0xa22cb465${word(STRANGER)}${word('0x1')}`],
      ['safeTransferFrom', `0x42842e0e${word(SHOP)}${word(STRANGER)}${word('0x1')}`],
      ['safeTransferFrom with data', `0xb88d4fde${word(SHOP)}${word(STRANGER)}${word('0x1')}${word('0x80')}`],
      [
        'safeTransferFrom of ERC-1155',
        `0xf242432a${word(SHOP)}${word(STRANGER)}${word('0x1')}${word('0x1')}`,
      ],
      ['safeBatchTransferFrom', `0x2eb2c2d6${word(SHOP)}${word(STRANGER)}${word('0xa0')}`],
      ['increaseApproval', `0xd73dd623${word(STRANGER)}${word('0x1')}`],
      ['permit', `0xd505accf${word(SHOP)}${word(STRANGER)}${word('0x1')}${word('0x1')}`],
      ['permit of Dai', `0x8fcbaf0c${word(SHOP)}${word(STRANGER)}${word('0x1')}${word('0x1')}`],
      ['transferAndCall', `0x1296ee62${word(STRANGER)}${word('0x1')}`],
      ['transferAndCall with data', `0x4000aea0${word(STRANGER)}${word('0x1')}${word('0x60')}`],
      ['transferFromAndCall', `0xd8fbe994${word(SHOP)}${word(STRANGER)}${word('0x1')}`],
      [
        'transferFromAndCall with data',
        `0xc1d34b89${word(SHOP)}${word(STRANGER)}${word('0x1')}${word('0x80')}`,
      ],
      ['approveAndCall', `0x3177029f${word(STRANGER)}${word('0x1')}`],
      ['approveAndCall with data', `0xcae9ca51${word(STRANGER)}${word('0x1')}${word('0x60')}`],
      ['approve in capitals', `0x095EA7B3${word(STRANGER).toUpperCase()}${word('0x1')}`],
    ])('refuses a %s that favors others', (_, data) => {
      expect(problemOf(data)).toContain(STRANGER);
    });

    it('takes one that favors them', () => {
      expect(problemOf(`0xa9059cbb${word(SHOP)}${word('0x1')}`)).toBeUndefined();
      expect(problemOf(`0x23b872dd${word(STRANGER)}${word(SHOP)}${word('0x1')}`)).toBeUndefined();
    });

    it.each([
      ['no arguments', '0xa9059cbb'],
      ['half an address', `0x095ea7b3${word(SHOP).slice(0, 40)}`],
      ['bytes above the address', `0xa9059cbb${'1'.padEnd(24, '0')}${SHOP.slice(2)}${word('0x1')}`],
      ['one argument of two', `0x23b872dd${word(SHOP)}`],
    ])('refuses a call of a token with %s', (_, data) => {
      expect(problemOf(data)).toContain('well-formed');
    });

    it('does not inspect other calldata', () => {
      expect(problemOf(`0x12345678${word(STRANGER)}`)).toBeUndefined();
    });
  });
});

describe('signatureProblem', () => {
  const policy = { ...NO_LIMITS, chains: [1], recipients: [SHOP] };
  const permit = (spender: string, verifyingContract = SHOP) =>
    typed({
      domain: { verifyingContract },
      message: { details: [{ amount: '1' }, { spender }] },
    });

  it('refuses chains, contracts and spenders that are not allowed', () => {
    expect(signatureProblem(policy, ether, permit(SHOP.toUpperCase().replace('0X', '0x')))).toBeUndefined();
    expect(signatureProblem(policy, six, permit(SHOP))).toContain('Sixnet');
    expect(signatureProblem(policy, ether, permit(STRANGER))).toContain(STRANGER);
    expect(signatureProblem(policy, ether, permit(SHOP, STRANGER))).toContain(STRANGER);
    expect(signatureProblem({ ...policy, recipients: null }, ether, permit(STRANGER))).toBeUndefined();
    expect(signatureProblem(policy, ether, text('Hello'))).toBeUndefined();
  });

  it.each(['spender', 'operator', 'to', 'recipient', 'receiver'])(
    'refuses a %s that is not allowed',
    (name) => {
      const transfer = (favored: string) =>
        typed({
          domain: { verifyingContract: SHOP },
          message: { from: STRANGER, [name]: favored, value: '1' },
        });
      expect(signatureProblem(policy, ether, transfer(SHOP))).toBeUndefined();
      expect(signatureProblem(policy, ether, transfer(STRANGER))).toContain(STRANGER);
    },
  );

  it('takes typed data of any shape', () => {
    const odd: readonly JsonObject[] = [
      {},
      { domain: null, message: null, types: null, primaryType: 1 },
      { domain: [], message: [[[]]], types: { a: null, b: [null, { type: 1 }] }, primaryType: 'c' },
    ];
    for (const typedData of odd) expect(signatureProblem(policy, ether, typed(typedData))).toBeUndefined();
  });

  describe('with any limit', () => {
    const limits: readonly Partial<WalletPolicy>[] = [
      { recipients: [SHOP] },
      { maxValue: '1' },
      { maxDailyValue: '1' },
    ];
    const problems = (payload: SignaturePayload) =>
      limits.map((limit) => signatureProblem({ ...NO_LIMITS, ...limit }, ether, payload));

    it.each(ACCOUNT_MESSAGES)('refuses to ask for a signature of %s', (types) => {
      for (const problem of problems(typed(typedDataOf(types))))
        expect(problem).toContain('limits, which cannot be checked');
      expect(
        signatureProblem({ ...NO_LIMITS, chains: [1] }, ether, typed(typedDataOf(types))),
      ).toBeUndefined();
    });

    it.each(OTHER_MESSAGES)('takes %s', (types) => {
      for (const problem of problems(typed(typedDataOf(types)))) expect(problem).toBeUndefined();
    });

    it('refuses a text that contracts can take for a hash', () => {
      const hash = 'h'.repeat(32);
      for (const given of [hash, ` ${hash}\n`, 'é'.repeat(16), 'ab'.repeat(32), `0x${'ab'.repeat(32)}`])
        for (const problem of problems(text(given))) expect(problem).toContain('32 bytes');
      for (const given of ['', 'h'.repeat(31), 'é'.repeat(32), `0x${'ab'.repeat(31)}`])
        for (const problem of problems(text(given))) expect(problem).toBeUndefined();
    });
  });
});

describe('the limit of a day', () => {
  it('is in wei of the chain', () => {
    const policy = { ...NO_LIMITS, maxDailyValue: '2.5' };
    expect(dailyLimit(policy, ether)).toBe(2_500_000_000_000_000_000n);
    expect(dailyLimit(policy, six)).toBe(2_500_000n);
    expect(dailyLimit(NO_LIMITS, ether)).toBeUndefined();
    expect(overDaily(policy, six, 1_500_000n)).toBe(
      'This App may ask a wallet for 2.5 SIX a day on Sixnet, and has asked for 1.5 SIX today',
    );
  });

  it('begins at midnight UTC', () => {
    const midnight = Date.UTC(2026, 0, 31);
    for (const at of [midnight, midnight + 1, midnight + 86_399_999]) expect(startOfDay(at)).toBe(midnight);
    expect(startOfDay(midnight - 1)).toBe(Date.UTC(2026, 0, 30));
  });
});
