import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../src/adapters/uuid/clock.js';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the system clock', () => {
  it('gives ids of version 7, each once and in order', () => {
    const ids = Array.from({ length: 10_000 }, () => systemClock.newId());
    expect(ids.every((id) => UUID_7.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  it('tells milliseconds since the epoch', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });
});
