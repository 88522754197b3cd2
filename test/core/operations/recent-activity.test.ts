import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { StoreUnavailableError, type Store } from '../../../src/core/ports/store.js';
import type { TurnObserver } from '../../../src/core/ports/observer.js';
import type { Rig } from '../../../src/core/ports/rig.js';
import { Recent } from '../../../src/core/operations/recent-activity.js';
import type { ClaimedTurn, TurnOutcome } from '../../../src/core/model/turn.js';
import { keptLog } from '../../support/core.js';
import { change } from '../../contracts/store-fixtures.js';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

const MINUTE = 60_000;
const START = 100 * 24 * 60 * MINUTE;
const rig: Rig = new ScriptedRig();

let now: number;
let store: Store;
let recent: Recent;
let log: ReturnType<typeof keptLog>;

/** Another process over the same store. */
function start(node: string, over: Store = store): Recent {
  const clock = { ...systemClock, now: () => now, monotonic: () => now, newId: () => node };
  return new Recent({ store: over, clock, log });
}

beforeEach(() => {
  now = START;
  store = createMemoryStore();
  log = keptLog();
  recent = start('a');
});

const turnOf = (id: string, fields: Partial<ClaimedTurn> = {}): ClaimedTurn => ({
  ...{ id, sessionId: `session of ${id}`, no: 1, app: 'desk', clientId: null, keyId: null },
  ...{ status: 'running', createdAt: now, error: null, owner: 'a', attempt: 1, losses: 0 },
  ...{ cancelRequested: false, partialText: '', partialSince: 0 },
  ...fields,
});

function begin(id: string): TurnObserver {
  return recent.observer.started(turnOf(id));
}

async function failuresIn(process: Recent) {
  await process.flush();
  return store.readFailures(1_000);
}

/** A turn that sends its first text after some time and ends after some more. */
function run(id: string, outcome: TurnOutcome, spokenAfter: number, endedAfter: number): void {
  const turn = begin(id);
  const answer = turn.asked(rig, 'answer');
  now += spokenAfter;
  answer.spoke();
  answer.spoke();
  now += endedAfter - spokenAfter;
  answer.ended('complete', { inputTokens: 10, outputTokens: 5 }, 0);
  turn.ended(outcome, 'gpt');
}

describe('Recent', () => {
  it('is empty at first', async () => {
    const points = await recent.points(60 * MINUTE, MINUTE);
    expect(points).toHaveLength(60);
    expect(points.at(-1)).toEqual({
      at: START,
      outcomes: { complete: 0, interrupted: 0, failed: 0 },
      ...{ inputTokens: 0, outputTokens: 0, firstText: null, duration: null },
    });
  });

  it('has turns, tokens and times in their minute', async () => {
    run('a', 'complete', 100, 1_000);
    run('b', 'failed', 300, 2_000);
    now = START + 5 * MINUTE;
    run('c', 'interrupted', 50, 60);
    const points = await recent.points(60 * MINUTE, MINUTE);
    expect(points.at(-6)).toEqual({
      at: START,
      outcomes: { complete: 1, interrupted: 0, failed: 1 },
      ...{ inputTokens: 20, outputTokens: 10 },
      ...{ firstText: { p50: 99, p95: 304 }, duration: { p50: 1_024, p95: 2_048 } },
    });
    expect(points.at(-1)?.outcomes).toEqual({ complete: 0, interrupted: 1, failed: 0 });
    const [whole] = await recent.points(15 * MINUTE, 15 * MINUTE);
    expect(whole?.outcomes).toEqual({ complete: 1, interrupted: 1, failed: 1 });
  });

  it('counts queued turns that an interrupt cancelled, without a duration', async () => {
    const turn = begin('a');
    now += 1_000;
    for (const id of ['b', 'c', 'd']) recent.observer.cancelled(turnOf(id));
    turn.ended('interrupted', 'gpt');
    const [point] = await recent.points(MINUTE, MINUTE);
    expect(point?.outcomes).toEqual({ complete: 0, interrupted: 4, failed: 0 });
    expect(point?.duration).toEqual({ p50: 1_024, p95: 1_024 });
  });

  it('counts no title as an answer’s first text', async () => {
    const title = begin('a').asked(rig, 'title');
    title.spoke();
    expect((await recent.points(MINUTE, MINUTE))[0]?.firstText).toBeNull();
  });

  it('stores failures, and of those between two flushes the last 100', async () => {
    await store.saveSession(change('session of 199'));
    for (let n = 0; n < 120; n += 1) run(String(n), n % 2 === 0 ? 'failed' : 'complete', 1, 2);
    for (let n = 120; n < 200; n += 1) run(String(n), 'failed', 1, 2);
    const failures = await failuresIn(recent);
    expect(failures).toHaveLength(100);
    expect(failures[0]).toMatchObject({
      turnId: '199',
      sessionId: 'session of 199',
      app: 'desk',
      rig: 'gpt',
    });
  });

  it('keeps why the last model request of a failed turn failed', async () => {
    const fail = (id: string, reasons: readonly (string | undefined)[]): void => {
      const turn = begin(id);
      for (const reason of reasons) {
        const outcome = reason === undefined ? 'complete' : 'failed';
        turn.asked(rig, 'answer').ended(outcome, { inputTokens: 0, outputTokens: 0 }, 0, reason);
      }
      turn.asked(rig, 'title').ended('failed', { inputTokens: 0, outputTokens: 0 }, 0, 'of a title');
      turn.ended('failed', 'gpt');
    };
    fail('a', ['busy', 'no such model']);
    fail('b', ['busy', undefined]);
    const reasons = (await failuresIn(recent)).map(({ turnId, reason }) => [turnId, reason]);
    expect(Object.fromEntries(reasons)).toEqual({ a: 'no such model', b: null });
  });

  it('adds up what several processes have done, and what one did before its restart', async () => {
    run('a', 'complete', 100, 1_000);
    const other = start('b');
    const turn = other.observer.started(turnOf('b'));
    now += 4_000;
    turn.ended('failed', 'gpt');
    await Promise.all([recent.close(), other.close()]);
    const [point] = await start('c').points(MINUTE, MINUTE);
    expect(point?.outcomes).toEqual({ complete: 1, interrupted: 0, failed: 1 });
    expect(point?.duration).toEqual({ p50: 1_024, p95: 4_096 });
    recent = start('a again');
    run('d', 'complete', 1, 2);
    expect((await recent.points(MINUTE, MINUTE))[0]?.outcomes.complete).toBe(2);
  });

  it('sums turns and tokens by App, key and day', async () => {
    recent.observer.accepted(turnOf('a', { keyId: 'k' }));
    recent.observer.accepted(turnOf('b'));
    run('b', 'complete', 1, 2);
    await recent.flush();
    run('c', 'complete', 1, 2);
    await recent.flush();
    await recent.flush();
    expect(await store.readWork(0)).toEqual([
      { app: 'desk', keyId: null, turns: 1, inputTokens: 20, outputTokens: 10 },
      { app: 'desk', keyId: 'k', turns: 1, inputTokens: 0, outputTokens: 0 },
    ]);
  });

  it('keeps what the store does not take, says so once, and counts it once', async () => {
    let isDown = true;
    recent = start('a', {
      ...store,
      saveActivity: (added) =>
        isDown ? Promise.reject(new StoreUnavailableError('down')) : store.saveActivity(added),
    });
    for (let n = 0; n < 3; n += 1) {
      recent.observer.accepted(turnOf(String(n)));
      run(String(n), 'failed', 1, 2);
      await recent.flush();
    }
    expect(log.lines).toHaveLength(1);
    isDown = false;
    expect(await failuresIn(recent)).toHaveLength(3);
    expect((await recent.points(MINUTE, MINUTE))[0]?.outcomes.failed).toBe(3);
    expect(await store.readWork(0)).toMatchObject([{ turns: 3, inputTokens: 30 }]);
  });

  it('stores small rows in a busy minute', async () => {
    for (let n = 0; n < 5_000; n += 1) run(String(n), 'complete', 0, 0);
    expect((await recent.points(MINUTE, MINUTE))[0]?.outcomes.complete).toBe(5_000);
    const [row] = await store.readActivity(0);
    expect(row?.duration).toEqual({ 0: 5_000 });
  });
});
