import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Signal } from '../../src/core/model/event.js';
import type { Bus } from '../../src/core/ports/bus.js';

function changed(revision: number): Signal {
  return { type: 'session_changed', revision };
}

/** Attaches a listener whose signals can be waited for. */
async function attach(bus: Bus, sessionId: string) {
  const seen: Signal[] = [];
  const waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  const detach = await bus.subscribe(sessionId, (signal) => {
    seen.push(signal);
    for (const waiter of waiters) if (seen.length >= waiter.count) waiter.resolve();
  });
  const hasSeen = (count: number) =>
    new Promise<void>((resolve) => {
      if (seen.length >= count) resolve();
      else waiters.push({ count, resolve });
    });
  return { seen, detach, hasSeen };
}

/** What every bus must do. `open` gives one; its delivery may take a while. */
export function busContract(name: string, open: () => Promise<{ bus: Bus; close(): Promise<void> }>): void {
  const withBus = (run: (bus: Bus) => Promise<void>) => async () => {
    const opened = await open();
    try {
      await run(opened.bus);
    } finally {
      await opened.close();
    }
  };

  describe(`${name} keeps the bus contract`, () => {
    it(
      'delivers to every listener of a session, in order of publication',
      withBus(async (bus) => {
        const id = randomUUID();
        const [a, b] = [await attach(bus, id), await attach(bus, id)];
        const signals: Signal[] = [
          changed(1),
          { type: 'turn_started', turnId: 't', attempt: 1 },
          { type: 'text', turnId: 't', attempt: 1, position: 1, offset: 0, before: 0, content: '🎭é' },
          { type: 'logged', event: { id: 1, at: 5, body: { type: 'system_notice', message: 'm' } } },
          ...Array.from({ length: 200 }, (_, n) => changed(n)),
          { type: 'session_deleted' },
        ];
        for (const signal of signals) bus.publish(id, signal);
        await Promise.all([a.hasSeen(signals.length), b.hasSeen(signals.length)]);
        expect(a.seen).toEqual(signals);
        expect(b.seen).toEqual(signals);
      }),
    );

    it(
      'delivers to the session alone',
      withBus(async (bus) => {
        const [id, other] = [randomUUID(), randomUUID()];
        const [mine, theirs] = [await attach(bus, id), await attach(bus, other)];
        bus.publish(other, changed(1));
        bus.publish(id, changed(2));
        bus.publish(other, changed(3));
        await Promise.all([mine.hasSeen(1), theirs.hasSeen(2)]);
        expect(mine.seen).toEqual([changed(2)]);
        expect(theirs.seen).toEqual([changed(1), changed(3)]);
      }),
    );

    it(
      'delivers nothing to a listener that was removed, and all to the others',
      withBus(async (bus) => {
        const id = randomUUID();
        const [stays, goes] = [await attach(bus, id), await attach(bus, id)];
        bus.publish(id, changed(1));
        await Promise.all([stays.hasSeen(1), goes.hasSeen(1)]);
        goes.detach();
        goes.detach();
        bus.publish(id, changed(2));
        await stays.hasSeen(2);
        expect(goes.seen).toEqual([changed(1)]);
      }),
    );

    it(
      'delivers again to who comes back after everybody had left',
      withBus(async (bus) => {
        const id = randomUUID();
        const first = await attach(bus, id);
        first.detach();
        bus.publish(id, changed(1));
        const second = await attach(bus, id);
        first.detach();
        bus.publish(id, changed(2));
        await second.hasSeen(1);
        expect(second.seen).toEqual([changed(2)]);
      }),
    );

    it(
      'takes a listener twice for two',
      withBus(async (bus) => {
        const id = randomUUID();
        const seen: Signal[] = [];
        const listener = (signal: Signal) => {
          seen.push(signal);
        };
        const detach = await bus.subscribe(id, listener);
        await bus.subscribe(id, listener);
        detach();
        const last = await attach(bus, id);
        bus.publish(id, changed(1));
        await last.hasSeen(1);
        expect(seen).toEqual([changed(1)]);
      }),
    );
  });
}
