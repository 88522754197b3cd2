import { describe, expect, it } from '@jest/globals';
import { LegacyNotices, type LegacyNotice } from '../../../src/core/operations/legacy-notice.js';
import { readReport } from '../../../src/core/operations/usage.js';
import type { Store } from '../../../src/core/ports/store.js';
import type { CountedSurface } from '../../../src/core/ports/usage-store.js';
import { keptLog } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The notices of one process over the given store. `fails`: how many deliveries fail first. */
function begin(options: { store?: Store; clock?: FakeClock; fails?: number } = {}) {
  const { store = createMemoryStore(), clock = new FakeClock() } = options;
  let fails = options.fails ?? 0;
  const delivered: LegacyNotice[] = [];
  const attempts: number[] = [];
  const log = keptLog();
  const notices = new LegacyNotices({
    ...{ store, clock, log, days: 7 },
    report: ({ days }) => readReport(store, { days, at: clock.now() }),
    deliver: (notice) => {
      attempts.push(clock.monotonic());
      if (fails-- > 0) return Promise.reject(new Error('The webhook responded with HTTP 500'));
      delivered.push(notice);
      return Promise.resolve();
    },
  });
  const count = (surface: CountedSurface, ago: number): Promise<void> => {
    const at = clock.now() - ago;
    const row = { day: at - (at % DAY), surface, endpoint: 'GET /a', keyId: null, client: 'WalletApp' };
    return store.addUsage([{ ...row, requests: 1, firstAt: at, lastAt: at }]);
  };
  return { store, clock, log, notices, delivered, attempts, count };
}

describe('LegacyNotices', () => {
  it('delivers nothing while the surface is in use, or while it is too early to say', async () => {
    const { notices, delivered, count } = begin();
    await notices.check();
    await count('legacy', 6 * DAY);
    await count('current', 30 * DAY);
    await notices.check();
    expect(delivered).toEqual([]);
  });

  it('delivers one notice when the surface falls out of use, whatever is restarted', async () => {
    const { store, clock, notices, delivered, count } = begin();
    await count('current', 30 * DAY);
    await count('legacy', 6 * DAY);
    notices.start();
    await clock.advance(DAY - HOUR);
    expect(delivered).toEqual([]);
    await clock.advance(3 * HOUR);
    expect(delivered).toMatchObject([{ id: expect.stringMatching(/^legacy_unused:\d{4}-/) }]);
    await notices.close();
    const again = begin({ store, clock });
    await again.notices.check();
    expect(again.delivered).toEqual([]);
  });

  it('delivers another one only after the surface was used again', async () => {
    const { clock, notices, delivered, count } = begin();
    await count('current', 30 * DAY);
    await count('legacy', 8 * DAY);
    await notices.check();
    await clock.advance(HOUR);
    await count('legacy', 0);
    await notices.check();
    expect(delivered).toHaveLength(1);
    await clock.advance(7 * DAY + 1);
    await notices.check();
    expect(new Set(delivered.map(({ id }) => id)).size).toBe(2);
  });

  it('delivers once when several processes check at the same time', async () => {
    const first = begin();
    const second = begin({ store: first.store, clock: first.clock });
    await first.count('current', 30 * DAY);
    await Promise.all([first.notices.check(), second.notices.check()]);
    expect([...first.delivered, ...second.delivered]).toMatchObject([{ id: 'legacy_unused:never' }]);
  });

  it('retries with growing delays, a bounded number of times, and again with a later check', async () => {
    const { clock, log, notices, delivered, attempts, count } = begin({ fails: 6 });
    await count('current', 30 * DAY);
    await clock.passUntil(notices.check());
    const delays = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
    expect(delays).toEqual([1_000, 5_000, 25_000, 125_000]);
    expect(log.lines).toEqual([expect.stringContaining('failed to deliver a notice')]);
    await clock.advance(HOUR);
    await clock.passUntil(notices.check());
    expect([attempts.length, delivered.length]).toEqual([7, 1]);
  });

  it('leaves a notice to another process when it closes between two attempts', async () => {
    const { store, clock, notices, count } = begin({ fails: 9 });
    await count('current', 30 * DAY);
    const checking = notices.check();
    await clock.advance(2_000);
    await notices.close();
    await checking;
    const other = begin({ store, clock });
    await other.notices.check();
    expect(other.delivered).toEqual([]);
    await clock.advance(HOUR);
    await other.notices.check();
    expect(other.delivered).toHaveLength(1);
  });
});
