import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import type { TurnObserver } from '../../../src/core/ports/observer.js';
import type { Rig } from '../../../src/core/ports/rig.js';
import { Recent } from '../../../src/core/operations/recent-activity.js';
import type { ClaimedTurn, TurnOutcome } from '../../../src/core/model/turn.js';
import { ScriptedRig } from '../../support/scripted-rig.js';

const MINUTE = 60_000;
const START = 100 * 24 * 60 * MINUTE;
const rig: Rig = new ScriptedRig();

let now: number;
let recent: Recent;

beforeEach(() => {
  now = START;
  recent = new Recent({ ...systemClock, now: () => now, monotonic: () => now, newId: () => 'unused' });
});

function begin(id: string): TurnObserver {
  const turn: ClaimedTurn = {
    ...{ id, sessionId: `session of ${id}`, no: 1, app: 'desk', clientId: null, keyId: null },
    ...{ status: 'running', createdAt: now, error: null, owner: 'a', attempt: 1, losses: 0 },
    ...{ cancelRequested: false, partialText: '', partialSince: 0 },
  };
  return recent.observer.started(turn);
}

/** A turn that speaks after some time and ends after some more. */
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

describe('what a process remembers of its last day', () => {
  it('is empty at first', () => {
    const points = recent.points(60 * MINUTE, MINUTE);
    expect(points).toHaveLength(60);
    expect(points.at(-1)).toEqual({
      at: START,
      outcomes: { complete: 0, interrupted: 0, failed: 0 },
      ...{ inputTokens: 0, outputTokens: 0, firstText: null, duration: null },
    });
  });

  it('has turns, tokens and times in their minute', () => {
    run('a', 'complete', 100, 1_000);
    run('b', 'failed', 300, 2_000);
    now = START + 5 * MINUTE;
    run('c', 'interrupted', 50, 60);
    const points = recent.points(60 * MINUTE, MINUTE);
    expect(points.at(-6)).toEqual({
      at: START,
      outcomes: { complete: 1, interrupted: 0, failed: 1 },
      ...{ inputTokens: 20, outputTokens: 10 },
      ...{ firstText: { p50: 100, p95: 300 }, duration: { p50: 1_000, p95: 2_000 } },
    });
    expect(points.at(-1)?.outcomes).toEqual({ complete: 0, interrupted: 1, failed: 0 });
    const [whole] = recent.points(15 * MINUTE, 15 * MINUTE);
    expect(whole?.outcomes).toEqual({ complete: 1, interrupted: 1, failed: 1 });
  });

  it('counts no title as an answer’s first text', () => {
    const title = begin('a').asked(rig, 'title');
    title.spoke();
    expect(recent.points(MINUTE, MINUTE)[0]?.firstText).toBeNull();
  });

  it('shows failures, the newest first, and forgets the oldest', () => {
    for (let n = 0; n < 120; n += 1) run(String(n), n % 2 === 0 ? 'failed' : 'complete', 1, 2);
    for (let n = 120; n < 200; n += 1) run(String(n), 'failed', 1, 2);
    const failures = recent.failures();
    expect(failures).toHaveLength(100);
    expect(failures[0]).toMatchObject({
      turnId: '199',
      sessionId: 'session of 199',
      app: 'desk',
      rig: 'gpt',
    });
  });

  it('keeps why the last model request of a failed turn failed', () => {
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
    expect(recent.failures().map(({ reason }) => reason)).toEqual([null, 'no such model']);
  });

  it('forgets what is older than a day, and stays small in a busy minute', () => {
    for (let n = 0; n < 5_000; n += 1) run(String(n), 'complete', 0, 0);
    expect(recent.points(MINUTE, MINUTE)[0]?.outcomes.complete).toBe(5_000);
    now += 25 * 60 * MINUTE;
    run('late', 'complete', 1, 2);
    const day = recent.points(26 * 60 * MINUTE, MINUTE);
    expect(day.reduce((sum, { outcomes }) => sum + outcomes.complete, 0)).toBe(1);
  });
});
