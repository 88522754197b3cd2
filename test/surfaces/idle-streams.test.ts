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
      streams.add({ address: 'one', isSilent: false, state, close: () => closed.add(name) });
    add('broken', () => Promise.reject(new Error('the session cannot be read')));
    add('idle', () => Promise.resolve('idle'));
    add('last', () => Promise.resolve('idle'));
    await jest.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(closed).toEqual(new Set(['idle']));
  });

  it('reads no session of a stream that it may not close', async () => {
    const read: string[] = [];
    const streams = new IdleStreams(IDLE_MS, () => performance.now());
    const add = (address: string, isSilent: boolean) =>
      streams.add({
        address,
        isSilent,
        state: () => {
          read.push(address);
          return Promise.resolve('idle');
        },
        close: () => undefined,
      });
    add('with a session', false);
    add('without', true);
    await jest.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(new Set(read)).toEqual(new Set(['without']));
  });
});
