import { describe, expect, it } from '@jest/globals';
import { PartQueue } from '../../src/adapters/ai-sdk/part-queue.js';
import { failure } from './ai-sdk-dialects.js';

describe('the queue between the network and the reader of an answer', () => {
  it('gives what waits, then what comes, then the end', async () => {
    const queue = new PartQueue<number>();
    queue.push(1);
    queue.push(2);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of queue) seen.push(item);
    })();
    await new Promise(setImmediate);
    queue.push(3);
    queue.end();
    await reading;
    expect(seen).toEqual([1, 2, 3]);
  });

  it('gives what waits before an error, and the error once', async () => {
    const queue = new PartQueue<number>();
    queue.push(1);
    queue.fail('broken');
    queue.fail('again');
    expect(await queue.next()).toEqual({ done: false, value: 1 });
    expect(await failure(queue.next())).toBe('broken');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('fails a reader who waits', async () => {
    const queue = new PartQueue<number>();
    const reading = failure(queue.next());
    queue.fail('broken');
    expect(await reading).toBe('broken');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('gives the reason of an abort next, whatever waits, and says that the reader leaves', async () => {
    const abort = new AbortController();
    let left = 0;
    const queue = new PartQueue<number>(abort.signal, () => left++);
    queue.push(1);
    queue.end();
    abort.abort('enough');
    expect(await failure(queue.next())).toBe('enough');
    expect(left).toBe(1);
  });

  it('says when its reader goes', async () => {
    let left = 0;
    const queue = new PartQueue<number>(undefined, () => left++);
    queue.push(1);
    for await (const item of queue) if (item === 1) break;
    expect(left).toBe(1);
  });
});
