import { describe, expect, it } from '@jest/globals';
import { createMemoryBus } from '../../src/adapters/bus/memory/bus.js';
import type { Signal } from '../../src/core/model/event.js';
import { busContract } from '../contracts/bus.js';

busContract('the memory bus', () => {
  const bus = createMemoryBus();
  return Promise.resolve({ bus, close: () => bus.close() });
});

describe('the memory bus', () => {
  const signal = (revision: number): Signal => ({ type: 'session_changed', revision });

  it('has delivered when publish returns', async () => {
    const bus = createMemoryBus();
    const seen: Signal[] = [];
    await bus.subscribe('s', (one) => seen.push(one));
    bus.publish('s', signal(1));
    expect(seen).toEqual([signal(1)]);
  });

  it('keeps one order for everybody when a listener publishes', async () => {
    const bus = createMemoryBus();
    const [first, second]: Signal[][] = [[], []];
    await bus.subscribe('s', (one) => {
      first?.push(one);
      if (first?.length === 1) bus.publish('s', signal(2));
    });
    await bus.subscribe('s', (one) => second?.push(one));
    bus.publish('s', signal(1));
    expect(first).toEqual([signal(1), signal(2)]);
    expect(second).toEqual([signal(1), signal(2)]);
  });

  it('delivers nothing more to a listener that another removes during delivery', async () => {
    const bus = createMemoryBus();
    const seen: Signal[] = [];
    let detach: () => void = () => undefined;
    await bus.subscribe('s', () => {
      detach();
    });
    detach = await bus.subscribe('s', (one) => seen.push(one));
    bus.publish('s', signal(1));
    expect(seen).toEqual([]);
  });

  it('delivers a signal to nobody who comes during its delivery, and the next one to all', async () => {
    const bus = createMemoryBus();
    const seen: Signal[] = [];
    let isFirst = true;
    await bus.subscribe('s', () => {
      if (isFirst) void bus.subscribe('s', (one) => seen.push(one));
      isFirst = false;
    });
    bus.publish('s', signal(1));
    expect(seen).toEqual([]);
    bus.publish('s', signal(2));
    expect(seen).toEqual([signal(2)]);
  });

  it('delivers nothing once it is closed', async () => {
    const bus = createMemoryBus();
    const seen: Signal[] = [];
    await bus.subscribe('s', (one) => seen.push(one));
    await bus.close();
    bus.publish('s', signal(1));
    expect(seen).toEqual([]);
  });
});
