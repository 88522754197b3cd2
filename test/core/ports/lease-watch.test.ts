import { describe, expect, it } from '@jest/globals';
import { LeaseWatch } from '../../../src/core/ports/lease-watch.js';

const LEASE_MS = 6_000;
const HOUR_MS = 3_600_000;

/** A watch that looks at one turn, at moments of its own steady clock. */
function watching() {
  const watch = new LeaseWatch(LEASE_MS);
  return {
    /** Whether the turn's lease is lost. */
    look: (at: number, sight: { mark: string; leftMs: number }): boolean =>
      watch.findLost([{ id: 'turn', ...sight }], { askedAt: at, answeredAt: at }).length === 1,
    lookAtNothing: (at: number): void => {
      watch.findLost([], { askedAt: at, answeredAt: at });
    },
  };
}

describe('LeaseWatch', () => {
  it('finds a lease lost at its first look when the lease has ended', () => {
    expect(watching().look(0, { mark: 'a', leftMs: 0 })).toBe(true);
  });

  it('finds a lease lost at its first look when the lease ends further ahead than a lease is long', () => {
    expect(watching().look(0, { mark: 'a', leftMs: LEASE_MS + 1 })).toBe(true);
  });

  it('gives a lease of its first look the time that is left, by the steady clock', () => {
    const { look } = watching();
    expect(look(0, { mark: 'a', leftMs: 2_000 })).toBe(false);
    // What the wall clock says by then does not matter.
    expect(look(1_999, { mark: 'a', leftMs: -HOUR_MS })).toBe(false);
    expect(look(2_000, { mark: 'a', leftMs: HOUR_MS })).toBe(true);
  });

  it.each([
    ['the clock is not set', 4_000, 0],
    ['the clock is set back', HOUR_MS + 4_000, HOUR_MS],
    ['the clock is set forward', 4_000 - HOUR_MS, -HOUR_MS],
  ])(
    'finds a lease lost that nobody has renewed for its length while it looked, when %s',
    (_, left, later) => {
      const { look, lookAtNothing } = watching();
      lookAtNothing(0);
      expect(look(1_000, { mark: 'a', leftMs: left })).toBe(false);
      expect(look(6_999, { mark: 'a', leftMs: later })).toBe(false);
      expect(look(7_000, { mark: 'a', leftMs: later })).toBe(true);
      // Until it is claimed.
      expect(look(8_000, { mark: 'a', leftMs: later })).toBe(true);
    },
  );

  it('never finds a lease lost that its owner renews, however the clock steps', () => {
    const { look, lookAtNothing } = watching();
    lookAtNothing(0);
    for (let at = 1_000, renewals = 0; at < 60_000; at += 1_000) {
      if (at % 2_000 === 0) renewals++;
      const step = [0, HOUR_MS, -HOUR_MS, -5_000][(at / 1_000) % 4] ?? 0;
      expect(look(at, { mark: `1:${String(renewals)}`, leftMs: 5_000 + step })).toBe(false);
    }
  });

  it('counts from the response of the read that saw the lease first to the request of the one that saw it last', () => {
    const watch = new LeaseWatch(LEASE_MS);
    const sights = [{ id: 'turn', mark: 'a', leftMs: 5_000 }];
    watch.findLost([], { askedAt: 0, answeredAt: 0 });
    // As of a process that was stopped while it waited for the store.
    expect(watch.findLost(sights, { askedAt: 1_000, answeredAt: 5_000 })).toEqual([]);
    expect(watch.findLost(sights, { askedAt: 10_999, answeredAt: 12_000 })).toEqual([]);
    expect(watch.findLost(sights, { askedAt: 11_000, answeredAt: 11_000 })).toEqual([
      { id: 'turn', mark: 'a' },
    ]);
  });

  it('starts again with a lease that was gone in between', () => {
    const { look, lookAtNothing } = watching();
    lookAtNothing(0);
    expect(look(1_000, { mark: 'a', leftMs: 5_000 })).toBe(false);
    lookAtNothing(2_000);
    expect(look(7_000, { mark: 'a', leftMs: 5_000 })).toBe(false);
  });
});
