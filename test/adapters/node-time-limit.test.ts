import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { createTimeLimit, TimeLimitError } from '../../src/adapters/platform/node/time-limit.js';

const COMPILED = new URL('../../dist/adapters/platform/node/time-limit.js', import.meta.url);

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
    // In a process of its own: the CPU time of this one includes what other threads have done, such as its collector.
    const script = `
      import { createTimeLimit } from ${JSON.stringify(COMPILED.href)};
      let tries = 0;
      const waits = () => {
        tries++;
        // Without computing, as a process that has to wait for others: in each attempt, for longer than the limit.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
        return tries;
      };
      console.log(createTimeLimit().run(600, waits));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
    expect(Number(String(output))).toBeGreaterThanOrEqual(3);
  });

  it('repeats work after an attempt whose CPU time other threads have used', () => {
    let tries = 0;
    const slowOnce = () => {
      tries += 1;
      // Simulates a garbage collection during the first attempt.
      while (tries === 1);
      return tries;
    };
    expect(limit.run(50, slowOnce)).toBeGreaterThan(1);
  });

  it('can be nested', () => {
    expect(limit.run(1000, () => limit.run(1000, () => 2) + limit.run(1000, () => 3))).toBe(5);
  });
});
