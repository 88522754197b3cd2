import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { SqliteDatabase as Database } from '../../src/adapters/stores/sqlite/driver.js';
import { migrate, readMigrations } from '../../src/adapters/stores/sqlite/migrate.js';
import type { Pruned, PruneStage } from '../../src/adapters/stores/sqlite/steps.js';
import { pruneAll } from '../../src/adapters/stores/sqlite/store.js';
import type { Writer } from '../../src/adapters/stores/sqlite/writer/writer.js';
import { createWrites } from '../../src/adapters/stores/sqlite/writes/writes.js';
import { acceptance, change, NO_PRUNE, T0 } from '../contracts/store-fixtures.js';

it('a step that prunes threads is bounded by their text, and by their number', () => {
  const db = new Database(':memory:');
  migrate(db, readMigrations(new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url)));
  const writes = createWrites(db);
  const sizes = [1_500_000, 400_000, 400_000, 5_000_000, ...Array<number>(25).fill(10)];
  for (const [index, size] of sizes.entries()) {
    const id = randomUUID();
    writes.acceptMessage(acceptance(id, { text: 'x'.repeat(size), at: T0 + index }));
    writes.interruptTurns(id, T0 + index);
  }
  const steps: number[] = [];
  for (let stage: PruneStage | null = 'threads'; stage === 'threads';) {
    const { deleted, next } = writes.pruneSome({ ...NO_PRUNE, threadsBefore: T0 + 100 }, stage);
    steps.push(deleted.length);
    stage = next;
  }
  expect(steps).toEqual([2, 1, 1, 20, 5]);
  db.close();
});

/** A writer with threads to prune in every step, which records the stages. */
function endless(onStep: (stages: readonly string[]) => void = () => undefined) {
  const stages: PruneStage[] = [];
  const NEXT = { threads: 'threads', events: 'keys', keys: 'activity', activity: null } as const;
  const run = (_name: string, _prune: unknown, stage: PruneStage): Promise<Pruned> => {
    stages.push(stage);
    onStep(stages);
    return Promise.resolve({ deleted: stage === 'threads' ? [randomUUID()] : [], next: NEXT[stage] });
  };
  return { stages, run: run as Writer['run'] };
}

it('a prune with threads without end removes other data too', async () => {
  const { stages, run } = endless();
  const deleted = await pruneAll({ run }, NO_PRUNE);
  expect(deleted).toHaveLength(500);
  expect(stages.slice(500)).toEqual(['events', 'keys', 'activity']);
});

it('a prune that is stopped returns the threads that it has deleted', async () => {
  const stopping = new AbortController();
  const { run } = endless((stages) => {
    if (stages.length === 3) stopping.abort();
  });
  expect(await pruneAll({ run }, NO_PRUNE, stopping.signal)).toHaveLength(3);
});

it('a deleted session keeps nothing of its client', () => {
  const db = new Database(':memory:');
  migrate(db, readMigrations(new URL('../../src/adapters/stores/sqlite/migrations/', import.meta.url)));
  const writes = createWrites(db);
  const id = randomUUID();
  writes.saveSession(change(id, { set: { client: 'digest' } }));
  const kept = () => db.prepare('SELECT client FROM sessions WHERE id = ?').pluck().get(id);
  expect(kept()).toBe('digest');
  writes.deleteSession(id, T0);
  expect(kept()).toBeNull();
  db.close();
});
