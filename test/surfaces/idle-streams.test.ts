import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IdleStreams, type Idler } from '../../src/surfaces/field/idle-streams.js';

const IDLE_MS = 100;

describe('the check of idle streams', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('reaches those behind a stream whose session cannot be read', async () => {
    const closed = new Set<string>();
    const streams = new IdleStreams(IDLE_MS, () => performance.now());
    const add = (name: string, state: Idler['state']) =>
      streams.add({ address: 'one', state, close: () => closed.add(name) });
    add('broken', () => Promise.reject(new Error('the session cannot be read')));
    add('idle', () => Promise.resolve('idle'));
    add('last', () => Promise.resolve('idle'));
    await jest.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(closed).toEqual(new Set(['idle']));
  });
});
