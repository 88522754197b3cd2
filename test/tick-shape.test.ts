import { expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { keepTickShape, type Kept } from '../src/composition/tick-shape.js';

it('holds a tick of the event loop, and then a newer one', async () => {
  const kept: Kept = {};
  const timer = keepTickShape(kept, 1);
  try {
    await setTimeout(0);
    const first = kept.tick;
    expect(first).toHaveProperty('callback', expect.any(Function));
    while (kept.tick === first) await setTimeout(1);
    expect(kept.tick).toHaveProperty('callback', expect.any(Function));
  } finally {
    clearInterval(timer);
  }
});
