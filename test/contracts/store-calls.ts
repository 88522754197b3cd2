import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { OpenCall } from '../../src/core/ports/call-store.js';
import type { EventBody } from '../../src/core/model/event.js';
import type { Store } from '../../src/core/ports/store.js';
import { change, LEASE, T0, type WithStore } from './store-fixtures.js';

const OTHER = { owner: 'other', milliseconds: 30_000 };
const END: EventBody = { type: 'tool_complete', callId: 'c', toolName: 'climb', failed: false, result: 1 };

function start({ callId, toolName }: OpenCall): EventBody {
  return { type: 'tool_update', callId, toolName };
}

async function opened(store: Store, sessionId: string = randomUUID()): Promise<OpenCall> {
  await store.saveSession(change(sessionId));
  const call = { callId: randomUUID(), sessionId, toolName: 'climb' };
  await store.openCall(call, LEASE, start(call), T0);
  return call;
}

/** What stores promise of the calls of tools outside turns. */
export function callContract(withStore: WithStore): void {
  describe('calls of tools outside turns', () => {
    it(
      'are noted together with their first event, and not for a session that is not there',
      withStore(async (store) => {
        const call = { callId: randomUUID(), sessionId: randomUUID(), toolName: 'climb' };
        expect(await store.openCall(call, LEASE, start(call), T0)).toBeUndefined();
        expect(await store.readCallLeases()).toEqual([]);
        await store.saveSession(change(call.sessionId));
        const commit = await store.openCall(call, LEASE, start(call), T0);
        expect(commit?.events.map(({ body }) => body)).toEqual([start(call)]);
        expect(await store.readCallLeases()).toEqual([
          { id: call.callId, mark: expect.any(String), leftMs: expect.any(Number), toolName: 'climb' },
        ]);
        const { events } = await store.readEvents(call.sessionId, 0, 10);
        expect(events).toEqual(commit?.events);
      }),
    );

    it(
      'log what happens while their owner has them, and nothing after',
      withStore(async (store) => {
        const { callId, sessionId } = await opened(store);
        const event: EventBody = { type: 'tool_update', callId, toolName: 'climb', message: 'half way' };
        expect(await store.logCall(callId, OTHER.owner, event, T0)).toBeUndefined();
        const commit = await store.logCall(callId, LEASE.owner, event, T0);
        expect(commit?.events.map(({ body }) => body)).toEqual([event]);
        await store.closeCall(callId, { owner: LEASE.owner }, END, T0);
        expect(await store.logCall(callId, LEASE.owner, event, T0)).toBeUndefined();
        const { events } = await store.readEvents(sessionId, 0, 10);
        expect(events.map(({ body }) => body.type)).toEqual(['tool_update', 'tool_update', 'tool_complete']);
      }),
    );

    it(
      'are ended once, by their owner or by who saw the lease that they have',
      withStore(async (store) => {
        const call = await opened(store);
        const { callId, sessionId } = call;
        expect(await store.closeCall(callId, { owner: OTHER.owner }, END, T0)).toBeUndefined();
        expect(await store.closeCall(callId, { mark: 'none' }, END, T0)).toBeUndefined();
        const closed = await store.closeCall(callId, { owner: LEASE.owner }, END, T0 + 1);
        expect(closed).toMatchObject({ sessionId, commit: { events: [{ body: END, at: T0 + 1 }] } });
        expect(await store.closeCall(callId, { owner: LEASE.owner }, END, T0)).toBeUndefined();
        expect(await store.readCallLeases()).toEqual([]);

        const other = await opened(store);
        const [sight] = await store.readCallLeases();
        const ends = await Promise.all(
          [1, 2, 3].map(() => store.closeCall(other.callId, { mark: sight?.mark ?? '' }, END, T0)),
        );
        expect(ends.filter((end) => end !== undefined)).toHaveLength(1);
        expect((await store.readEvents(other.sessionId, 0, 10)).events).toHaveLength(2);
      }),
    );

    it(
      'get another mark by each renewal, which is their owner’s alone',
      withStore(async (store) => {
        const { callId } = await opened(store);
        const [before] = await store.readCallLeases();
        await store.renewCalls({ ...OTHER, milliseconds: 90_000 }, [callId]);
        expect(await store.readCallLeases()).toMatchObject([{ mark: before?.mark }]);
        await store.renewCalls({ ...LEASE, milliseconds: 90_000 }, [callId, randomUUID()]);
        const [after] = await store.readCallLeases();
        expect(after?.mark).not.toBe(before?.mark);
        expect(after?.leftMs).toBeGreaterThan(80_000);
        expect(await store.closeCall(callId, { mark: before?.mark ?? '' }, END, T0)).toBeUndefined();
        expect(await store.closeCall(callId, { mark: after?.mark ?? '' }, END, T0)).toBeDefined();
      }),
    );

    it(
      'go with their session, and do not come back with its id',
      withStore(async (store) => {
        const { callId, sessionId } = await opened(store);
        await store.deleteSession(sessionId, T0);
        await store.saveSession(change(sessionId));
        expect(await store.closeCall(callId, { owner: LEASE.owner }, END, T0)).toBeUndefined();
        expect((await store.readEvents(sessionId, 0, 10)).events).toEqual([]);
        expect(await store.readCallLeases()).toEqual([]);
      }),
    );
  });
}
