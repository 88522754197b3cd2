import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { openConnections, type Run } from '../../src/adapters/stores/postgres/connections.js';
import { createActivity } from '../../src/adapters/stores/postgres/queries/activity.js';
import { createLeases } from '../../src/adapters/stores/postgres/queries/leases.js';
import { createReads } from '../../src/adapters/stores/postgres/queries/reads.js';
import { createThreadReads } from '../../src/adapters/stores/postgres/queries/threads.js';
import { createWrites } from '../../src/adapters/stores/postgres/queries/writes.js';
import { Steps } from '../../src/adapters/stores/postgres/steps.js';
import { StoreUnavailableError } from '../../src/core/ports/store.js';
import { acceptance, change, ending, record, send, sendAndClaim, T0 } from '../contracts/store-fixtures.js';
import { countedRun } from '../support/counted-run.js';
import { Gate } from '../support/gate.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';

const LEASE = { owner: 'a', milliseconds: 60_000 };

/**
 * The parts of a store, with the names of the statements that they run.
 * @returns `state.isAway`: true makes every statement fail
 */
async function counted(database: ReturnType<typeof testDatabase>) {
  const url = await database.newUrl();
  const store = await database.open({ url });
  const connections = openConnections({ url }, {});
  const state = { isAway: false };
  const { run, statements } = countedRun((statement, values) =>
    state.isAway ? Promise.reject(new StoreUnavailableError('away')) : connections.run(statement, values),
  );
  const close = async () => {
    await connections.close();
    await store.close();
  };
  return { url, store, run, statements, state, close };
}

describeWithPostgres('the history of the operator', () => {
  const database = testDatabase();

  it('is saved in one statement, so that nothing is added twice after a failure', async () => {
    const { run, statements, store, close } = await counted(database);
    try {
      const failure = {
        at: T0,
        turnId: randomUUID(),
        sessionId: randomUUID(),
        app: 'a',
        rig: null,
        reason: null,
      };
      const work = { day: 0, app: 'a', keyId: null, turns: 1, inputTokens: 10, outputTokens: 5 };
      await createActivity(run).saveActivity({ minutes: [], failures: [failure], work: [work] });
      expect(statements).toEqual(['save_activity']);
      expect(await store.readFailures(9)).toHaveLength(1);
    } finally {
      await close();
    }
  });
});

describeWithPostgres('Steps', () => {
  const database = testDatabase();

  it('does not let the end of a turn overtake an interruption, and claim what that cancels', async () => {
    const { run, statements, store, close } = await counted(database);
    try {
      const gate = new Gate();
      const writes = createWrites(async (statement, values) => {
        if (statement.name === 'interrupt_turns') await gate.passed;
        return run(statement, values);
      });
      const id = randomUUID();
      const turn = await sendAndClaim(store, id);
      await send(store, id);
      const interrupting = writes.interruptTurns(id, T0);
      const ended = writes.endTurn(turn, ending({ outcome: 'interrupted', claimNext: LEASE }));
      // A round trip, in which an end that does not wait would be sent.
      await store.countTurns();
      gate.open();
      expect(await ended).toMatchObject({ next: null });
      expect(await interrupting).toMatchObject({ cancelled: [{ status: 'interrupted' }] });
      expect(statements).toEqual(['interrupt_turns', 'write_steps']);
    } finally {
      await close();
    }
  });

  it('writes what many sessions ask for in one statement', async () => {
    const { run, statements, close } = await counted(database);
    try {
      const writes = createWrites(run);
      const ids = Array.from({ length: 50 }, () => randomUUID());
      const accepted = await Promise.all(
        ids.map((id) => writes.acceptMessage(acceptance(id, { claim: LEASE }))),
      );
      expect(accepted.map(({ kind }) => kind)).toEqual(ids.map(() => 'accepted'));
      expect(statements).toEqual(['write_steps']);
      const turns = accepted.map((one) => {
        if (one.kind !== 'accepted' || one.claimed === null) throw new Error(one.kind);
        return one.claimed;
      });
      statements.length = 0;
      const ends = await Promise.all(
        turns.map((turn) =>
          writes.endTurn(
            turn,
            ending({ messages: [record(turn, 1)], events: [{ type: 'title_changed', title: '"{\\}",' }] }),
          ),
        ),
      );
      expect(ends).toEqual(
        ids.map(() => ({
          commit: {
            revision: 2,
            events: [{ id: 1, at: T0, body: { type: 'title_changed', title: '"{\\}",' } }],
          },
          next: null,
        })),
      );
      expect(statements).toEqual(['write_steps']);
    } finally {
      await close();
    }
  });

  it('keeps the order of the steps of a session', async () => {
    const { run, statements, close } = await counted(database);
    try {
      const { appendEvents, saveSession } = createWrites(run);
      const id = randomUUID();
      await saveSession(change(id));
      statements.length = 0;
      const commits = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          appendEvents(id, [{ type: 'title_changed', title: String(n) }], T0),
        ),
      );
      expect(commits.map((commit) => commit?.revision)).toEqual(Array.from({ length: 20 }, (_, n) => n + 2));
      expect(statements).toEqual(['write_steps']);
    } finally {
      await close();
    }
  });

  it('lets a step fail alone', async () => {
    const { run, store, statements, close } = await counted(database);
    try {
      const turn = await sendAndClaim(store, randomUUID());
      const writes = createWrites(run);
      const clash = { messages: [record(turn, 1), record(turn, 1)], events: [], partialText: '' };
      const [one, bad, other] = await Promise.allSettled([
        writes.saveSession(change(randomUUID())),
        writes.saveProgress(turn, clash, T0),
        writes.saveSession(change(randomUUID())),
      ]);
      expect([one, other]).toMatchObject([{ value: { kind: 'saved' } }, { value: { kind: 'saved' } }]);
      expect(bad).toMatchObject({ reason: { message: 'PostgreSQL refused a statement (23505)' } });
      expect(bad).not.toMatchObject({ reason: expect.any(StoreUnavailableError) });
      expect(statements.sort()).toEqual(['save_progress', 'save_session', 'save_session', 'write_steps']);
    } finally {
      await close();
    }
  });

  it('does not wait for a session that is locked, except for its own steps, which take one connection', async () => {
    const { url, run, close } = await counted(database);
    const blocker = new Client({ connectionString: url });
    try {
      await blocker.connect();
      const writes = createWrites(run);
      const [locked, free] = [randomUUID(), randomUUID()];
      await Promise.all([locked, free].map((id) => writes.saveSession(change(id))));
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM sessions WHERE id = $1 FOR UPDATE', [locked]);
      const event = { type: 'title_changed', title: 'T' } as const;
      let isWaiting = true;
      // More of them than there are connections.
      const steps = Array.from({ length: 20 }, () => writes.appendEvents(locked, [event], T0));
      const waits = Promise.all(steps).finally(() => (isWaiting = false));
      const done = await writes.appendEvents(free, [event], T0);
      expect([done?.revision, isWaiting]).toEqual([2, true]);
      // The next group is not held up either.
      expect((await writes.appendEvents(free, [event], T0))?.revision).toBe(3);
      expect(isWaiting).toBe(true);
      await blocker.query('COMMIT');
      expect((await waits).map((commit) => commit?.revision)).toEqual(
        Array.from({ length: 20 }, (_, n) => n + 2),
      );
    } finally {
      await blocker.end();
      await close();
    }
  });

  it('does not deadlock with the renewal of leases, or with another node', async () => {
    const { url, run, store, close } = await counted(database);
    const other = await database.open({ url });
    try {
      const ids = Array.from({ length: 40 }, () => randomUUID());
      const turns = await Promise.all(ids.map((id) => sendAndClaim(store, id)));
      const writes = createWrites(run);
      const leases = createLeases(run);
      const owned = turns.map(({ id }) => id);
      for (let round = 0; round < 20; round++) {
        const progress = { messages: [], events: [], partialText: String(round) };
        const reversed = [...turns].reverse();
        const results = await Promise.all([
          ...turns.map((turn) => writes.saveProgress(turn, progress, T0)),
          ...reversed.map((turn) => other.saveProgress(turn, progress, T0)),
          leases.renewLeases({ owner: turns[0]?.owner ?? '', milliseconds: 60_000 }, owned),
        ]);
        expect(results.filter((result) => result === 'lost')).toEqual([]);
      }
    } finally {
      await other.close();
      await close();
    }
  });
});

describe('Steps', () => {
  /** Steps on a database that responds to each group, and to each step of its own, as given. */
  function stepsOn(group: (size: number) => Promise<object[]>, alone: () => Promise<object[]>) {
    const run: Run = async ({ name }, [steps]) =>
      (await (name === 'write_steps'
        ? group((JSON.parse(String(steps)) as unknown[]).length)
        : alone())) as never[];
    return new Steps(run);
  }
  const unexpected = () => Promise.reject(new Error('unexpected'));

  it('rejects all steps that wait when the store does not respond, and none that comes later', async () => {
    const groups: number[] = [];
    const steps = stepsOn((size) => {
      groups.push(size);
      if (groups.length === 1) return Promise.reject(new StoreUnavailableError('away'));
      return Promise.resolve(Array.from({ length: size }, (_, n) => ({ n, free: true, result: 'written' })));
    }, unexpected);
    const writes = Array.from({ length: 200 }, () => steps.write('append_events', []));
    const results = await Promise.allSettled(writes);
    expect(results.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(groups).toEqual([64]);
    expect(await steps.write('append_events', [])).toBe('written');
  });

  it('are not settled while a step is repeated', async () => {
    let unlock: (rows: object[]) => void = () => undefined;
    let whenRepeated: () => void = () => undefined;
    const repeated = new Promise<void>((resolve) => (whenRepeated = resolve));
    const locked = new Promise<object[]>((resolve) => (unlock = resolve));
    const steps = stepsOn(
      () => Promise.resolve([{ n: 0, free: false, result: null }]),
      () => {
        whenRepeated();
        return locked;
      },
    );
    const order: unknown[] = [];
    const write = steps.write('append_events', []).then((result) => order.push(result));
    const settled = steps.settled().then(() => order.push('settled'));
    await repeated;
    // All that could settle now has settled.
    await new Promise(setImmediate);
    unlock([{ result: 'written' }]);
    await Promise.all([write, settled]);
    expect(order).toEqual(['written', 'settled']);
  });

  it('counts the text of arrays toward the size of a statement', async () => {
    const groups: number[] = [];
    const steps = stepsOn((size) => {
      groups.push(size);
      return Promise.resolve(Array.from({ length: size }, (_, n) => ({ n, free: true, result: null })));
    }, unexpected);
    const large = ['id', ['a'.repeat(100_000), 'b'.repeat(100_000)]];
    await Promise.all([steps.write('append_events', large), steps.write('append_events', large)]);
    expect(groups).toEqual([1, 1]);
  });
});

describeWithPostgres('RowReads', () => {
  const database = testDatabase();

  it('reads the revisions of many sessions in one statement', async () => {
    const { store, run, statements, close } = await counted(database);
    try {
      const ids = Array.from({ length: 100 }, () => randomUUID());
      await Promise.all(ids.map((id) => store.saveSession(change(id))));
      const { revisionOf } = createReads(run);
      const revisions = await Promise.all([...ids, ...ids, randomUUID()].map((id) => revisionOf(id)));
      expect(revisions).toEqual([...[...ids, ...ids].map(() => 1), 'unknown']);
      expect(statements).toEqual(['heads']);
    } finally {
      await close();
    }
  });

  it('never gives a result of a statement that began before the request', async () => {
    const { store, run, close } = await counted(database);
    try {
      const id = randomUUID();
      await store.saveSession(change(id));
      const { revisionOf } = createReads(run);
      for (let revision = 1; revision < 20; revision++) {
        const early = revisionOf(id);
        await new Promise(setImmediate);
        await store.appendEvents(id, [{ type: 'title_changed', title: 'T' }], T0);
        expect(await revisionOf(id)).toBe(revision + 1);
        await early;
      }
    } finally {
      await close();
    }
  });

  it('fails all requests when the store does not respond, and not those that come later', async () => {
    const { store, run, state, close } = await counted(database);
    try {
      const ids = [randomUUID(), randomUUID(), randomUUID()];
      await Promise.all(ids.map((id) => store.saveSession(change(id))));
      const { revisionOf } = createReads(run);
      state.isAway = true;
      const results = await Promise.allSettled(ids.map((id) => revisionOf(id)));
      expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
      state.isAway = false;
      expect(await Promise.all(ids.map((id) => revisionOf(id)))).toEqual([1, 1, 1]);
    } finally {
      await close();
    }
  });

  it('loads threads in one statement', async () => {
    const { store, run, statements, close } = await counted(database);
    try {
      const turns = await Promise.all([randomUUID(), randomUUID()].map((id) => sendAndClaim(store, id)));
      await Promise.all(turns.map((turn) => store.endTurn(turn, ending({ messages: [record(turn, 1)] }))));
      const { loadThread } = createThreadReads(run);
      const threads = await Promise.all(turns.map(({ sessionId }) => loadThread(sessionId)));
      expect(threads).toMatchObject(
        turns.map((turn) => ({
          session: { id: turn.sessionId },
          settled: [{ role: 'user' }, { turnId: turn.id, position: 1 }],
          open: [],
        })),
      );
      expect(statements).toEqual(['thread_head']);
    } finally {
      await close();
    }
  });
});
