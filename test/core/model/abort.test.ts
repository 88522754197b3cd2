import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { linkSignals } from '../../../src/core/model/abort.js';

describe('linkSignals', () => {
  it('aborts with the first of the sources, for its reason', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const { signal } = linkSignals(first.signal, second.signal);
    expect(signal.aborted).toBe(false);
    second.abort('two');
    first.abort('one');
    expect([signal.aborted, signal.reason]).toEqual([true, 'two']);
    expect(linkSignals(new AbortController().signal, first.signal).signal.reason).toBe('one');
  });

  it('aborts with nothing once it is released', () => {
    const source = new AbortController();
    const [released, other] = [linkSignals(source.signal), linkSignals(source.signal)];
    released.release();
    source.abort();
    expect([released.signal.aborted, other.signal.aborted]).toEqual([false, true]);
  });

  it('listens once to a source of many, and not at all without any', () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 2; round++) {
      const links = Array.from({ length: 20 }, () => linkSignals(signal, signal));
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      for (const { release } of links) release();
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    }
  });
});
