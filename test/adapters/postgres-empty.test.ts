import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { Store } from '../../src/core/ports/store.js';
import {
  change,
  claimFree,
  end,
  LEASE,
  NO_PRUNE,
  record,
  sendAndClaim,
  T0,
  versionOf,
  WIDE,
} from '../contracts/store-fixtures.js';
import { hashOf, reported, verdict } from '../contracts/wallet-fixtures.js';
import { describeWithPostgres, testDatabase } from '../support/postgres.js';
import { runSql } from '../support/run-sql.js';

const SESSIONS = 40;
const TURNS = 5;

/** Runs a turn, with the reads of its clients and the work on its lease. */
async function runTurn(store: Store, id: string): Promise<void> {
  const turn = await sendAndClaim(store, id, { set: { wallet: 'w' } });
  const step = record(turn, 1);
  await store.saveProgress(turn, { messages: [step], events: [], partialText: '' }, T0);
  await store.renewLeases(LEASE, [turn.id]);
  await claimFree(store, LEASE, 5);
  await store.readFlight(id);
  await end(store, turn, { messages: [record(turn, 2)] });
  await store.loadThread(id, { after: step });
  await store.loadTail(id, 2);
  await store.readMessages(id, { limit: 4, before: step.id });
  await store.readTurns(id, { from: turn.no, to: turn.no });
  await store.revisionOf(id);
  await store.listThreads('w', { limit: 2, after: null });
  await store.saveSession(change(id, { set: { title: `title ${String(turn.no)}` } }));
}

/** Writes and reads wallet requests, calls of tools outside turns, events, secrets and a branch of a session. */
async function runOthers(store: Store, id: string, n: number): Promise<void> {
  const { id: requestId } = await reported(store, id, hashOf(n));
  const interruption = await store.interruptTurns(id, T0);
  if (interruption === undefined) throw new Error('the session is gone');
  await store.readWalletRequests(id, { limit: 5 });
  await store.findSettledBy(1, hashOf(n));
  await store.verifyWalletRequest(id, requestId, randomUUID(), verdict());
  await store.expireWalletRequests(T0, 5);
  const call = { callId: randomUUID(), sessionId: id, toolName: 'climb' };
  await store.openCall(call, LEASE, { type: 'tool_update', callId: call.callId, toolName: 'climb' }, T0);
  await store.renewCalls(LEASE, [call.callId]);
  await store.appendEvents(id, [{ type: 'system_notice', message: 'Look.' }], T0);
  await store.readEvents(id, 0, 3);
  await store.readSystemEvents(id, 3);
  const { shown } = await store.claimFaults(id, LEASE, null);
  await store.markFaultsShown(id, shown);
  await store.putSecrets(id, [{ app: 'default', name: 'A', keyId: 'k', sealed: 'c2VhbGVk' }], WIDE, T0);
  await store.readSecrets(id, null);
  await store.branchSession({
    ...{ sourceId: id, ifVersion: await versionOf(store, id), before: null, id: randomUUID() },
    ...{ set: {}, idempotency: null, maxSessionBytes: 33_554_432, at: T0 },
  });
}

describeWithPostgres('the PostgreSQL store on a database that was empty', () => {
  const database = testDatabase();

  it('reads rows by index while its tables grow, although they had no rows when its statements were planned', async () => {
    const url = await database.newUrl();
    // One connection, which keeps its plans.
    const store = await database.open({ url, poolSize: 1 });
    const ids = Array.from({ length: SESSIONS }, () => randomUUID());
    for (let n = 0; n < TURNS; n++) for (const id of ids) await runTurn(store, id);
    for (const [n, id] of ids.entries()) await runOthers(store, id, n);
    await store.prune(NO_PRUNE);
    // A connection reports what it has read when it ends.
    await store.close();
    const read = await runSql<{ relname: string; rows: string }>(
      url,
      `SELECT relname, seq_tup_read AS rows FROM pg_stat_user_tables
       WHERE schemaname = current_schema() AND seq_tup_read > $1`,
      [SESSIONS * TURNS],
    );
    expect(read).toEqual([]);
  });
});
