import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import type { EventBody, Commit } from '../../src/core/model/event.js';
import type { Quota } from '../../src/core/model/quota.js';
import type { Store } from '../../src/core/ports/store.js';
import {
  acceptance,
  change,
  claimFree,
  end,
  LEASE,
  loaded,
  record,
  NO_PRUNE,
  send,
  sendAndClaim,
  T0,
} from '../contracts/store-fixtures.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

const notice = (message: string): EventBody => ({ type: 'system_notice', message });

describeWithPostgres('a PostgreSQL database that several nodes share', () => {
  const database = testDatabase();
  let url: string;
  let nodes: readonly [Store, Store];

  beforeAll(async () => {
    url = await database.newUrl();
    nodes = [await openPostgresStore({ url, poolSize: 4 }), await openPostgresStore({ url, poolSize: 4 })];
  });

  beforeEach(async () => {
    await runSql(url, 'TRUNCATE sessions, turns, messages, events, system_events, uses, buried');
  });

  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  it('gives revisions and event ids without a gap, in the order of commits', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(nodes[0], id);
    const commits: Commit[] = [];
    const keep = (commit: Commit | 'lost' | undefined): void => {
      if (commit === undefined || commit === 'lost') throw new Error('nothing was written');
      commits.push(commit);
    };
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const node = nodes[n % 2 === 0 ? 0 : 1];
        keep(await node.appendEvents(id, [notice(`a${String(n)}`), notice('b')], T0));
        keep(await node.saveProgress(turn, { messages: [], events: [notice('c')], partialText: '' }, T0));
        const saved = await node.saveSession(change(id, { set: { rig: String(n) }, events: [notice('d')] }));
        keep(saved.kind === 'saved' ? saved.commit : undefined);
      }),
    );
    commits.sort((a, b) => a.revision - b.revision);
    expect(commits.map(({ revision }) => revision)).toEqual(Array.from({ length: 120 }, (_, n) => n + 2));
    const ids = commits.flatMap(({ events }) => events.map((event) => event.id));
    expect(ids).toEqual(Array.from({ length: 160 }, (_, n) => n + 1));
    const kept = await nodes[1].readEvents(id, 0, 1_000);
    expect(kept.events).toEqual(commits.flatMap(({ events }) => events));
  });

  it('never shows an event before those with smaller ids', async () => {
    const id = randomUUID();
    await nodes[0].saveSession(change(id));
    const state = { writing: true };
    const writers = Promise.all(
      nodes.map(async (node) => {
        for (let n = 0; n < 60; n++) await node.appendEvents(id, [notice(String(n))], T0);
      }),
    ).finally(() => (state.writing = false));
    let last = 0;
    while (state.writing) {
      const { events, lastId } = await nodes[1].readEvents(id, last, 1_000);
      for (const event of events) expect(event.id).toBe(++last);
      expect(lastId).toBe(last);
    }
    await writers;
  });

  it('hands each abandoned turn to one node, one of a session', async () => {
    const ids = Array.from({ length: 30 }, () => randomUUID());
    for (const [n, id] of ids.entries()) {
      if (n % 2 === 0) await sendAndClaim(nodes[0], id, { claim: { owner: 'lost', milliseconds: -1 } });
      else await send(nodes[0], id);
      await send(nodes[0], id);
    }
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        claimFree(nodes[n % 2 === 0 ? 0 : 1], { owner: `node ${String(n)}`, milliseconds: 60_000 }, 7),
      ),
    );
    const rest = await claimFree(nodes[0], LEASE, 100);
    const claimed = [...claims.flat(), ...rest];
    expect(claimed.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort());
    expect(claimed.map(({ no }) => no)).toEqual(claimed.map(() => 1));
    expect(new Set(claimed.map(({ attempt, losses }) => `${String(attempt)}.${String(losses)}`))).toEqual(
      new Set(['2.1', '1.0']),
    );
  });

  it('goes by the clock of the database, whatever the clocks of the nodes say', async () => {
    const turn = await sendAndClaim(nodes[0], randomUUID(), { claim: { owner: 'a', milliseconds: 60_000 } });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 86_400_000);
    try {
      expect(await claimFree(nodes[1], LEASE, 5)).toEqual([]);
      await nodes[1].renewLeases({ owner: 'a', milliseconds: -1 }, [turn.id]);
      clock.mockReturnValue(0);
      expect(await claimFree(nodes[1], LEASE, 5)).toMatchObject([{ id: turn.id }]);
    } finally {
      clock.mockRestore();
    }
  });

  it('fences a node that does not own a turn, also while the owner ends it', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(nodes[0], id);
    const results = await Promise.all([
      nodes[1].takeOver(turn.id, { owner: 'b', milliseconds: 60_000 }),
      ...Array.from({ length: 10 }, (_, n) =>
        nodes[0].saveProgress(turn, { messages: [record(turn, n + 1)], events: [], partialText: '' }, T0),
      ),
    ]);
    const [taken, ...saved] = results;
    const lost = saved.filter((result) => result === 'lost').length;
    expect((await loaded(nodes[1], id)).open[0]?.messages).toHaveLength(1 + saved.length - lost);
    if (taken === undefined) throw new Error('the turn was not taken over');
    expect(await nodes[0].saveProgress(turn, { messages: [], events: [], partialText: 'x' }, T0)).toBe(
      'lost',
    );
    await end(nodes[1], taken);
  });

  it('counts against a quota exactly, however many ask at once', async () => {
    const quota: Quota = { subject: 'key:k', measure: 'turns', from: T0, milliseconds: 1_000, limit: 7 };
    const tokens: Quota = { ...quota, measure: 'tokens', limit: 1 };
    const all = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        nodes[n % 2 === 0 ? 0 : 1].acceptMessage(acceptance(randomUUID(), { quotas: [tokens, quota] })),
      ),
    );
    expect(all.filter(({ kind }) => kind === 'accepted')).toHaveLength(7);
    expect(all.filter((one) => one.kind === 'over_quota' && one.quota === quota)).toHaveLength(17);
    expect(await nodes[0].listSessions({ limit: 100, after: null })).toHaveLength(7);
    expect(await runSql(url, 'SELECT measure, amount::int FROM uses ORDER BY measure')).toEqual([
      { measure: 'tokens', amount: 0 },
      { measure: 'turns', amount: 7 },
    ]);
  });

  it('removes what a deleted session had, in slices, and never shows half of it', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(nodes[0], id);
    await end(nodes[0], turn, {
      messages: Array.from({ length: 5_000 }, (_, n) => record(turn, n + 1)),
      events: Array.from({ length: 5_000 }, () => notice('n')),
    });
    const looks: unknown[] = [];
    const state = { deleting: true };
    const deletion = nodes[0].deleteSession(id, T0).finally(() => (state.deleting = false));
    while (state.deleting) {
      const thread = await nodes[1].loadThread(id);
      looks.push(typeof thread === 'string' ? thread : thread.settled.length);
    }
    expect(await deletion).toBe(true);
    expect(looks.filter((look) => look !== 5_001 && look !== 'deleted')).toEqual([]);
    for (const table of ['turns', 'messages', 'events', 'system_events', 'idempotency_keys', 'buried']) {
      expect(await runSql(url, `SELECT count(*)::int AS left_over FROM ${table}`)).toEqual([
        { left_over: 0 },
      ]);
    }
  });

  it('removes a turn of a deleted session although a node renews its lease at the same time', async () => {
    const [one, other] = nodes;
    const id = randomUUID();
    const turn = await sendAndClaim(one, id);
    const renewing = new Client({ connectionString: url });
    await renewing.connect();
    await renewing.query('BEGIN');
    await renewing.query('UPDATE turns SET lease_until = clock_timestamp() WHERE id = $1', [turn.id]);
    const deleted = other.deleteSession(id, T0);
    const waiting =
      'SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = $1';
    while ((await runSql(url, waiting, ['Lock'])).length === 0);
    await renewing.query('COMMIT');
    await renewing.end();
    expect(await deleted).toBe(true);
    expect(await one.countTurns()).toEqual({ queued: 0, running: 0 });
  });

  it('removes a bounded number of sessions with one deletion, however many others are left', async () => {
    await runSql(url, 'INSERT INTO buried (session) SELECT generate_series(-1100, -1)');
    const id = randomUUID();
    await sendAndClaim(nodes[0], id);
    expect(await nodes[0].deleteSession(id, T0)).toBe(true);
    expect(await runSql(url, 'SELECT count(*)::int AS n FROM buried')).toEqual([{ n: 101 }]);
    await nodes[0].prune(NO_PRUNE);
    expect(await runSql(url, 'SELECT count(*)::int AS n FROM buried')).toEqual([{ n: 0 }]);
  });

  it('removes the rows of many deleted sessions with one statement, a limited number of them', async () => {
    for (let n = 0; n < 5; n++) {
      const id = randomUUID();
      await sendAndClaim(nodes[0], id);
      await runSql(url, 'SELECT delete_session($1, $2)', [id, T0]);
    }
    const left = async () => {
      const [rows] = await runSql(
        url,
        `SELECT (SELECT count(*)::int FROM messages) + (SELECT count(*)::int FROM turns) AS rows,
           (SELECT count(*)::int FROM buried) AS sessions`,
      );
      return rows;
    };
    expect(await left()).toEqual({ rows: 10, sessions: 5 });
    await runSql(url, 'SELECT sweep_buried(7)');
    expect(await left()).toEqual({ rows: 3, sessions: 2 });
    expect(await runSql(url, 'SELECT sweep_buried(7) AS more')).toEqual([{ more: true }]);
    expect(await left()).toEqual({ rows: 0, sessions: 0 });
    expect(await runSql(url, 'SELECT sweep_buried(7) AS more')).toEqual([{ more: false }]);
  });

  it('removes with the next pruning what a deletion has left', async () => {
    const id = randomUUID();
    await sendAndClaim(nodes[0], id);
    // What a process leaves that dies between two slices.
    await runSql(url, 'SELECT delete_session($1, $2)', [id, T0]);
    expect(await runSql(url, 'SELECT count(*)::int AS n FROM messages')).toEqual([{ n: 1 }]);
    expect(await claimFree(nodes[1], LEASE, 5)).toEqual([]);
    const prune = { ...NO_PRUNE, eventsKept: 10 };
    await Promise.all(nodes.map((node) => node.prune(prune)));
    expect(await runSql(url, 'SELECT count(*)::int AS n FROM messages')).toEqual([{ n: 0 }]);
  });

  it('prunes from both nodes at once', async () => {
    const ids = Array.from({ length: 60 }, () => randomUUID());
    for (const id of ids) await nodes[0].saveSession(change(id, { events: [notice('n')] }));
    const prune = { ...NO_PRUNE, threadsBefore: T0 + 1, eventsKept: 0, eventsSince: T0 + 1 };
    const deleted = (await Promise.all(nodes.map((node) => node.prune(prune)))).flat();
    expect([...deleted].sort()).toEqual([...ids].sort());
  });

  it('keeps text and JSON as they are: order of keys, escapes, half characters', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(nodes[0], id, { text: 'a\u2028"\\\u0001{}🎭' });
    const tree = {
      z: 1,
      a: { '\u0000': '\u0000\ud800', y: [1.5, 1e21, -0.1] },
      '10': 1,
      '9': 2,
    };
    const args = { z: '\\u0000 \u0000', a: 'null', m: { b: 1, a: 2 } };
    const result = { callId: 'c', name: 'n', result: 'x\u0000\udfff', failed: false, multiStep: false };
    const message = record(turn, 1, { toolCalls: [{ callId: 'c', name: 'n', args }], toolResults: [result] });
    const body: EventBody = {
      type: 'tool_complete',
      callId: 'c',
      toolName: 'n',
      failed: false,
      result: args,
    };
    await nodes[0].saveSession(change(id, { set: { userState: { tree, flat: false } } }));
    await nodes[0].saveProgress(turn, { messages: [message], events: [body], partialText: '' }, T0);
    const { session, open } = await loaded(nodes[1], id);
    expect(JSON.stringify(session.userState?.tree)).toBe(JSON.stringify(tree));
    expect(open[0]?.messages[0]?.content).toBe('a\u2028"\\\u0001{}🎭');
    expect(JSON.stringify(open[0]?.messages[1])).toBe(JSON.stringify(message));
    expect(JSON.stringify((await nodes[1].readEvents(id, 0, 5)).events[0]?.body)).toBe(JSON.stringify(body));
  });

  it('shows a replacement for what PostgreSQL cannot keep in text', async () => {
    const id = randomUUID();
    const turn = await sendAndClaim(nodes[0], id, { text: 'q\0', set: { wallet: 'w\0' } });
    const progress = {
      messages: [record(turn, 1, { content: 'a\0\ud800' })],
      events: [notice('n\0')],
      partialText: 'p\0',
    };
    await nodes[0].saveProgress(turn, progress, T0);
    const { session, open } = await loaded(nodes[1], id);
    expect(session.wallet).toBe('w\uFFFD');
    expect(open[0]?.messages.map(({ content }) => content)).toEqual(['q\uFFFD', 'a\uFFFD\uFFFD']);
    expect(open[0]?.partialText).toBe('p\uFFFD');
    expect(await nodes[1].readSystemEvents(id, 1)).toEqual([{ kind: 'SystemNotice', text: 'n\uFFFD' }]);
    expect(await nodes[1].listThreads('w\0', { limit: 5, after: null })).toHaveLength(1);
  });
});
