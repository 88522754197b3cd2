import { describe, expect, it } from '@jest/globals';
import { createTimeLimit, TimeLimitError } from '../../src/adapters/platform/node/time-limit.js';

describe('a time limit', () => {
  const limit = createTimeLimit();

  it('gives what the work returns or throws', () => {
    expect(limit.run(1000, () => 'done')).toBe('done');
    expect(limit.run(1000, () => [undefined])).toEqual([undefined]);
    const failure = new TypeError('no');
    expect(() =>
      limit.run(1000, () => {
        throw failure;
      }),
    ).toThrow(failure);
  });

  it('stops a loop and a regular expression, and works on afterwards', () => {
    expect(() =>
      limit.run(20, () => {
        for (;;);
      }),
    ).toThrow(TimeLimitError);
    expect(() => limit.run(20, () => /^(a+)+$/.test(`${'a'.repeat(60)}!`))).toThrow(TimeLimitError);
    expect(limit.run(1000, () => 1)).toBe(1);
  });

  it('does not stop work for the time in which the machine gave it none', () => {
    let tries = 0;
    const waits = (): number => {
      // Without computing, as a process that has to wait for others.
      if (++tries === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
      return tries;
    };
    expect(limit.run(1_000, waits)).toBe(2);
  });

  it('can be nested', () => {
    expect(limit.run(1000, () => limit.run(1000, () => 2) + limit.run(1000, () => 3))).toBe(5);
  });
});
