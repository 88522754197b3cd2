import { describe, expect, it } from '@jest/globals';
import { MAX_BACKLOG, QueueFeed } from '../../../src/core/streams/queue-feed.js';
import { Gate } from '../../support/gate.js';

function feedOf() {
  const told = { closed: 0 };
  const feed = new QueueFeed<string>(
    (item) => item.length,
    () => told.closed++,
  );
  return { feed, told };
}

describe('a feed', () => {
  it('gives what waited, then each item the moment it comes, then the end', async () => {
    const { feed, told } = feedOf();
    feed.push('a');
    feed.push('b');
    const seen: string[] = [];
    const over = feed.each((item) => {
      seen.push(item);
      return undefined;
    });
    expect(seen).toEqual(['a', 'b']);
    feed.push('c');
    expect(seen).toEqual(['a', 'b', 'c']);
    feed.end();
    feed.push('late');
    await over;
    expect([seen, told.closed, feed.overflowed]).toEqual([['a', 'b', 'c'], 1, false]);
  });

  it('gives what was there at its end to a consumer who comes later', async () => {
    const { feed } = feedOf();
    feed.push('a');
    feed.end();
    const seen: string[] = [];
    await feed.each((item) => {
      seen.push(item);
      return undefined;
    });
    expect(seen).toEqual(['a']);
  });

  it('keeps the order of what is pushed while an item is taken', async () => {
    const { feed } = feedOf();
    feed.push('a');
    feed.push('c');
    const seen: string[] = [];
    const over = feed.each((item) => {
      if (item === 'a') feed.push('d');
      if (item === 'live') feed.push('after');
      seen.push(item);
      return undefined;
    });
    feed.push('live');
    feed.end();
    await over;
    expect(seen).toEqual(['a', 'c', 'd', 'live', 'after']);
  });

  it('holds what comes while the consumer is busy, up to its bound', async () => {
    const { feed, told } = feedOf();
    const seen: number[] = [];
    const gate = new Gate();
    const over = feed.each((item) => {
      seen.push(item.length);
      return gate.passed;
    });
    feed.push('a');
    feed.push('bb');
    feed.push('x'.repeat(MAX_BACKLOG), true);
    expect([seen, feed.overflowed]).toEqual([[1], false]);
    feed.push('x'.repeat(MAX_BACKLOG - 1));
    expect([feed.overflowed, feed.ended, told.closed]).toEqual([true, true, 1]);
    gate.open();
    await over;
    expect(seen).toEqual([1]);
  });

  it('gives what waited once the consumer is through, and says when all is taken', async () => {
    const { feed } = feedOf();
    const [first, second] = [new Gate(), new Gate()];
    const seen: string[] = [];
    const over = feed.each((item) => {
      seen.push(item);
      if (item === 'a') return first.passed;
      return item === 'b' ? second.passed : undefined;
    });
    for (const item of ['a', 'b', 'c']) feed.push(item);
    feed.end();
    expect(seen).toEqual(['a']);
    first.open();
    await first.passed;
    await Promise.resolve();
    expect(seen).toEqual(['a', 'b']);
    second.open();
    await over;
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('says when what waited was taken', async () => {
    const { feed } = feedOf();
    feed.push('a');
    const drained = feed.drained();
    void feed.each(() => undefined);
    await drained;
    await feed.drained();
    feed.close();
  });

  it.each<[string, (error: Error) => Promise<void> | undefined]>([
    [
      'throws',
      (error) => {
        throw error;
      },
    ],
    ['rejects', (error) => Promise.reject(error)],
  ])('closes, and passes the error on, when its consumer %s', async (_, failing) => {
    const { feed, told } = feedOf();
    const failure = new Error('broken');
    const seen: string[] = [];
    const over = feed.each((item) => {
      seen.push(item);
      return failing(failure);
    });
    feed.push('a');
    feed.push('b');
    await expect(over).rejects.toBe(failure);
    expect([seen, feed.ended, told.closed]).toEqual([['a'], true, 1]);
  });
});
