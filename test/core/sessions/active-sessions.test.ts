import { describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { newSession } from '../../../src/core/model/session.js';
import { ActiveSessions } from '../../../src/core/sessions/active-sessions.js';
import { CachedSession } from '../../../src/core/sessions/cached-session.js';
import { record, sendAndClaim, T0 } from '../../contracts/store-fixtures.js';
import { FakeClock } from '../../support/fake-clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';

/** More than the cache holds. */
const MANY = 10_050;

describe('the cached sessions', () => {
  it('keep those with an open turn for a minute after their last use, or while they are pinned', async () => {
    const clock = new FakeClock();
    const turn = await sendAndClaim(createMemoryStore(), uuid());
    const active = new ActiveSessions(clock);
    const added = (): CachedSession => {
      const thread = new CachedSession({ ...newSession(uuid(), T0), revision: 1 }, clock.monotonic());
      thread.addTurn({ ...turn, status: 'running', error: null }, record(turn, 0));
      return active.keep(thread);
    };
    const threads = Array.from({ length: MANY }, added);
    const kept = () => threads.filter(({ id }) => active.get(id) !== undefined).length;
    expect(kept()).toBe(MANY);
    const [pinned] = threads;
    if (pinned === undefined) throw new Error('there are no sessions');
    pinned.pins++;
    clock.pass(61_000);
    added();
    expect(kept()).toBeLessThan(10_000);
    expect(active.get(pinned.id)).toBe(pinned);
  });
});
