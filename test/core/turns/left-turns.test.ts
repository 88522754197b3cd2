import { afterEach, describe, expect, it } from '@jest/globals';
import { v4 as uuid } from 'uuid';
import { NO_LIMITS } from '../../../src/core/model/quota.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import { closeTestCores, message, testCore } from '../../support/core.js';
import { FakeClock } from '../../support/fake-clock.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

afterEach(closeTestCores);

const settings = { limits: { session: { ...NO_LIMITS, tokensPerDay: 1_000_000 }, key: NO_LIMITS } };
const OTHER = { owner: 'other', milliseconds: 60_000 };

function node(store: Store) {
  const rig = new ScriptedRig();
  const clock = new FakeClock();
  return { ...testCore({ rigs: [rig], store, clock, settings }), rig, clock };
}

/** The tokens that count against the limit of a session. */
async function counted(store: Store, id: string): Promise<number | undefined> {
  const uses = await store.readUses(0, 100);
  return uses.find(({ subject, measure }) => subject === `session:${id}` && measure === 'tokens')?.amount;
}

async function shownUsage(store: Store, id: string) {
  return (await store.readTurns(id, { from: 1, to: 1 }))[0]?.usage;
}

describe('the tokens of a turn that a node has left', () => {
  it('count when the store refuses the end because another node has taken the turn over', async () => {
    const store = createMemoryStore();
    const { core, rig, clock } = node(store);
    const id = uuid();
    const { turnId } = await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    const taken = await store.takeOver(turnId, OTHER);
    if (taken === undefined) throw new Error('the turn was not taken over');
    asked.text('Hello').end({ inputTokens: 60, outputTokens: 40 });
    await clock.passUntil(core.drain(60_000));
    expect(await counted(store, id)).toBe(100);
    expect(await shownUsage(store, id)).toEqual({ inputTokens: 60, outputTokens: 40 });
  });

  it('add up with those of the node that ends it', async () => {
    const store = createMemoryStore();
    const [first, second] = [node(store), node(store)];
    const id = uuid();
    await first.core.send(message(id, 'Hi'));
    (await first.rig.next()).call('c1', 'unknown_tool').end({ inputTokens: 60, outputTokens: 40 });
    await first.rig.next();
    await first.clock.passUntil(first.core.drain(0));
    const before = await counted(store, id);
    await second.core.start();
    (await second.rig.next()).text('Hello').end({ inputTokens: 7, outputTokens: 3 });
    await second.clock.passUntil(second.core.drain(60_000));
    expect(await counted(store, id)).toBe((before ?? 0) + 10);
    const usage = await shownUsage(store, id);
    expect((usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)).toBe((before ?? 0) + 10);
  });

  it('count once when the end was stored but its result was lost', async () => {
    const memory = createMemoryStore();
    let isLost = true;
    const store: Store = {
      ...memory,
      endTurn: async (...given) => {
        const ended = await memory.endTurn(...given);
        if (!isLost) return ended;
        isLost = false;
        throw new StoreUnavailableError('the connection is gone');
      },
    };
    const { core, rig, clock } = node(store);
    const id = uuid();
    await core.send(message(id, 'Hi'));
    (await rig.next()).text('Hello').end({ inputTokens: 60, outputTokens: 40 });
    await clock.passUntil(core.drain(60_000));
    expect(await counted(store, id)).toBe(100);
    expect(await shownUsage(store, id)).toEqual({ inputTokens: 60, outputTokens: 40 });
  });

  it('count when the node could not store the end, as soon as the store is back', async () => {
    const memory = createMemoryStore();
    const store: Store = {
      ...memory,
      endTurn: () => Promise.reject(new StoreUnavailableError('down')),
    };
    const { core, rig, clock } = node(store);
    const id = uuid();
    await core.send(message(id, 'Hi'));
    (await rig.next()).text('Hello').end({ inputTokens: 60, outputTokens: 40 });
    await clock.passUntil(core.drain(60_000));
    expect(await counted(store, id)).toBe(100);
  });

  it('count when the store was down for longer than a lease', async () => {
    const memory = createMemoryStore();
    let isDown = false;
    const whileUp = <R>(access: () => Promise<R>): Promise<R> =>
      isDown ? Promise.reject(new StoreUnavailableError('down')) : access();
    const store: Store = {
      ...memory,
      readLeases: () => whileUp(() => memory.readLeases()),
      claimAbandoned: (...given) => whileUp(() => memory.claimAbandoned(...given)),
      renewLeases: (...given) => whileUp(() => memory.renewLeases(...given)),
      saveProgress: (...given) => whileUp(() => memory.saveProgress(...given)),
      endTurn: (...given) => whileUp(() => memory.endTurn(...given)),
      countAttempts: (attempts) => whileUp(() => memory.countAttempts(attempts)),
    };
    const { core, rig, clock } = node(store);
    await core.start();
    const id = uuid();
    await core.send(message(id, 'Hi'));
    const asked = await rig.next();
    isDown = true;
    asked.text('Hello').end({ inputTokens: 60, outputTokens: 40 });
    await clock.advance(10_000);
    expect(await counted(memory, id)).toBeUndefined();
    isDown = false;
    await clock.advance(2_000);
    expect(await counted(memory, id)).toBe(100);
    await clock.advance(10_000);
    (await rig.next()).text('Hello again').end({ inputTokens: 7, outputTokens: 3 });
    await clock.passUntil(core.drain(60_000));
    expect(await counted(memory, id)).toBe(110);
    expect(await shownUsage(memory, id)).toEqual({ inputTokens: 67, outputTokens: 43 });
  });

  it('are counted in one step after the leases are released', async () => {
    const memory = createMemoryStore();
    const steps: string[] = [];
    const store: Store = {
      ...memory,
      releaseTurns: (owner, ids) => {
        steps.push(`released ${String(ids.length)}`);
        return memory.releaseTurns(owner, ids);
      },
      countAttempts: (attempts) => {
        steps.push(`counted ${String(attempts.length)}`);
        return memory.countAttempts(attempts);
      },
    };
    const { core, rig, clock } = node(store);
    for (let n = 0; n < 3; n++) {
      await core.send(message(uuid(), 'Hi'));
      await rig.next();
    }
    await clock.passUntil(core.drain(0));
    expect(steps).toEqual(['released 3', 'counted 3']);
  });
});
