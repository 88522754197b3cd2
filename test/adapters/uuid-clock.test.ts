import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('the system clock', () => {
  it('gives ids of version 7, each once and in order', () => {
    const ids = Array.from({ length: 10_000 }, () => systemClock.newId());
    expect(ids.every((id) => UUID_7.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  it("gives ids in order though the machine's clock goes back", () => {
    const now = Date.now();
    const clock = jest
      .spyOn(Date, 'now')
      .mockReturnValueOnce(now + 2000)
      .mockReturnValueOnce(now - 60_000);
    const [first, second] = [systemClock.newId(), systemClock.newId()];
    clock.mockRestore();
    expect(second > first).toBe(true);
    expect(second.slice(0, 13)).toBe(first.slice(0, 13));
  });

  it('returns milliseconds since the epoch', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });
});
