import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from '@jest/globals';
import { openPostgresStore } from '../../src/adapters/stores/postgres/store.js';
import type { Store } from '../../src/core/ports/store.js';
import { closeTestCores, collectUntil, created, message, spoken, testCore } from '../support/core.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';
import { ScriptedRig } from '../support/scripted-rig.js';

const TABLES = ['sessions', 'turns', 'messages', 'events', 'system_events'];
const BACK_UP = TABLES.map((table) => `CREATE TABLE kept_${table} AS TABLE ${table}`);
const RESTORE = TABLES.map(
  (table) => `DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE TABLE kept_${table}`,
);

describeWithPostgres('a node whose PostgreSQL database has lost commits', () => {
  const database = testDatabase();

  let store: Store | undefined;

  afterEach(async () => {
    await closeTestCores();
    await store?.close();
  });

  it('shows what the database has, and sends a gap', async () => {
    const url = await database.newUrl();
    store = await openPostgresStore({ url });
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store, settings: { mirrorMs: 0 } });
    const id = randomUUID();
    const converse = async (text: string, reply: string): Promise<void> => {
      const sent = await core.send(message(id, text));
      (await rig.next()).text(reply).end();
      await core.turnEnded(sent, new AbortController().signal);
    };
    await core.start();
    await core.createSession({ sessionId: id });
    await core.renameSession(id, 'a');
    await converse('One', 'First.');
    await runSql(url, BACK_UP.join(';'));
    const feed = await core.updates(created(id), { after: null, turns: false });
    const seen = collectUntil(feed, ({ type }) => type === 'gap');
    await core.renameSession(id, 'b');
    await core.renameSession(id, 'c');
    await converse('Two', 'Second.');
    await runSql(url, RESTORE.join(';'));
    const { session, ...rest } = await core.snapshot(created(id));
    expect([session.title, ...spoken({ session, ...rest })]).toEqual(['a', 'user: One', 'assistant: First.']);
    expect(await seen).toMatchObject([
      { event: { id: 2 } },
      { event: { id: 3 } },
      { type: 'gap', from: 2, to: 3 },
    ]);
    await converse('Three', 'Third.');
    expect(spoken(await core.snapshot(created(id)))).toEqual([
      ...['user: One', 'assistant: First.', 'user: Three', 'assistant: Third.'],
    ]);
  });
});
