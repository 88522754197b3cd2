import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RefusedError } from '../../../src/core/model/refusal.js';
import {
  newSession,
  personTitle,
  PLACEHOLDER_TITLE,
  walletAddress,
} from '../../../src/core/model/session.js';
import { wellFormed } from '../../../src/core/model/text.js';

/** The path of the first problem of the refusal; throws when there was none, or another error. */
function refusedPath(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof RefusedError && error.reason === 'invalid') return error.details[0]?.path;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a new session', () => {
  it('has the placeholder title and nothing stored', () => {
    expect(newSession('s', 5)).toMatchObject({
      id: 's',
      title: PLACEHOLDER_TITLE,
      titleSource: 'placeholder',
      wallet: null,
      createdAt: 5,
      activeAt: 5,
      lastEventId: 0,
      revision: 0,
      version: 0,
    });
    expect(PLACEHOLDER_TITLE).toBe('New Chat');
  });
});

describe('a wallet address', () => {
  it('is kept in lower case when it is an EVM address', () => {
    const mixed = '0x00000000219ab540356cBB839Cbe05303d7705Fa';
    expect(walletAddress(` ${mixed}\n`)).toBe(mixed.toLowerCase());
    expect(walletAddress(mixed.toUpperCase().replace('0X', '0X'))).toBe(mixed.toLowerCase());
  });

  it.each([
    '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
    `0x${'A'.repeat(39)}`,
    `0x${'G'.repeat(40)}`,
    'Vitalik.eth',
  ])('is kept as it is otherwise: %s', (address) => {
    expect(walletAddress(address)).toBe(address);
  });

  it('has 1 to 128 characters', () => {
    expect(walletAddress('x'.repeat(128))).toHaveLength(128);
    expect(refusedPath(() => walletAddress('x'.repeat(129)))).toBe('public_key');
    expect(refusedPath(() => walletAddress('  '))).toBe('public_key');
  });

  it('does not change any more once it is kept', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 128 }), (text) => {
        fc.pre(text.trim() !== '');
        const kept = walletAddress(text);
        expect(walletAddress(kept)).toBe(kept);
      }),
    );
  });
});

describe('a title by a person', () => {
  it('is trimmed', () => {
    expect(personTitle('  My plan \n')).toBe('My plan');
  });

  it('has 1 to 200 characters, an emoji counting as one', () => {
    expect(Array.from(personTitle('🦊'.repeat(200)))).toHaveLength(200);
    expect(refusedPath(() => personTitle('x'.repeat(201)))).toBe('title');
    expect(refusedPath(() => personTitle(' \t'))).toBe('title');
  });

  it('holds nothing that a store would not keep', () => {
    expect(personTitle('a\0b\uD800')).toBe('a\uFFFDb\uFFFD');
  });
});

describe('well-formed text', () => {
  it('survives UTF-8 and has no NUL', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), (text) => {
        const kept = wellFormed(text);
        expect(Buffer.from(kept, 'utf8').toString('utf8')).toBe(kept);
        expect(kept).not.toContain('\0');
        expect(kept).toHaveLength(text.length);
      }),
    );
  });
});
