import { beforeEach, describe, expect, it } from '@jest/globals';
import { SettledTime } from '../../../src/core/sessions/settled-time.js';
import { keptLog } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

let clock: FakeClock;
let log: ReturnType<typeof keptLog>;
let time: SettledTime;

beforeEach(() => {
  clock = new FakeClock();
  log = keptLog();
  time = new SettledTime({ clock, log });
});

/** Reads the time every minute, and returns how far it is behind the wall clock after the last minute. */
function lagAfter(minutes: number): number {
  time.now();
  for (let n = 0; n < minutes; n++) {
    clock.pass(MINUTE_MS);
    time.now();
  }
  return clock.now() - time.now();
}

describe('SettledTime', () => {
  it('is the wall clock while that makes no step', () => {
    expect([lagAfter(0), lagAfter(30), log.lines]).toEqual([0, 0, []]);
  });

  it('follows a step forward once it has lasted for ten minutes, and reports it at once', () => {
    clock.step(HOUR_MS);
    expect([lagAfter(0), log.lines]).toEqual([HOUR_MS, ['wall clock stepped forward {"seconds":3600}']]);
    expect([lagAfter(9), lagAfter(1), lagAfter(30)]).toEqual([HOUR_MS, 0, 0]);
    expect(log.lines).toHaveLength(1);
  });

  it('never follows a wrong date that is corrected within ten minutes', () => {
    clock.step(YEAR_MS);
    expect(lagAfter(9)).toBe(YEAR_MS);
    clock.step(-YEAR_MS);
    expect(lagAfter(0)).toBe(0);
    clock.step(YEAR_MS);
    expect(lagAfter(9)).toBe(YEAR_MS);
  });

  it('follows of two steps only the one that has lasted', () => {
    clock.step(HOUR_MS);
    lagAfter(9);
    clock.step(YEAR_MS);
    expect([lagAfter(1), lagAfter(9), lagAfter(2)]).toEqual([YEAR_MS, YEAR_MS, 0]);
  });

  it('follows a step back at once, and a step of less than a minute', () => {
    clock.step(-HOUR_MS);
    expect(lagAfter(0)).toBe(0);
    clock.step(MINUTE_MS - 1);
    expect([lagAfter(0), log.lines]).toEqual([0, []]);
  });

  it('returns whole milliseconds, although the monotonic clock has fractions', () => {
    let passed = 0.7;
    const fine = new SettledTime({ clock: { now: () => 1_000, monotonic: () => passed }, log });
    passed += 60_000.4;
    expect(Number.isInteger(fine.now())).toBe(true);
  });
});
