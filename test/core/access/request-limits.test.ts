import { describe, expect, it } from '@jest/globals';
import { NO_LIMITS } from '../../../src/core/model/quota.js';
import { RequestLimits } from '../../../src/core/access/request-limits.js';

describe('requests a minute', () => {
  const settings = {
    session: { ...NO_LIMITS, requestsPerMinute: 2 },
    key: { ...NO_LIMITS, requestsPerMinute: 3 },
  };
  const of = (sessionId: string | null, keyId: string | null = null) => ({ sessionId, keyId });

  it('are counted for each session, until its minute is over', () => {
    let now = 60_000;
    const limits = new RequestLimits(settings, { now: () => now });
    for (let n = 0; n < 2; n++) limits.count(of('a'));
    expect(() => {
      limits.count(of('a'));
    }).toThrow(expect.objectContaining({ reason: 'too_many', retryAfter: 60 }));
    limits.count(of('b'));
    now += 60_000;
    limits.count(of('a'));
    expect(limits.size).toBe(1);
  });

  it('that are refused for one of its subjects count for none', () => {
    const limits = new RequestLimits(settings, { now: () => 0 });
    for (let n = 0; n < 2; n++) limits.count(of('a', 'k'));
    expect(() => {
      limits.count(of('a', 'k'));
    }).toThrow('This session');
    limits.count(of('b', 'k'));
    expect(() => {
      limits.count(of('b', 'k'));
    }).toThrow('This App key');
  });

  it('take no more memory than for so many sessions: the one seen first is forgotten', () => {
    const limits = new RequestLimits(settings, { now: () => 0 }, 2);
    for (const id of ['a', 'a', 'b', 'c']) limits.count(of(id));
    expect(limits.size).toBe(2);
    limits.count(of('a'));
  });

  it('are not counted where there is no limit', () => {
    const limits = new RequestLimits({ session: NO_LIMITS, key: NO_LIMITS }, { now: () => 0 });
    expect(limits.isNeeded).toBe(false);
    for (let n = 0; n < 10; n++) limits.count(of('a', 'k'));
    expect(limits.size).toBe(0);
  });
});
