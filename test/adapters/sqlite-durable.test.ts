import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from '@jest/globals';
import { backupDatabase } from '../../src/adapters/stores/sqlite/backup.js';
import { StoreUnavailableError, type Store } from '../../src/core/ports/store.js';
import { acceptance, change, contents, loaded, send } from '../contracts/store-fixtures.js';
import { transfer } from '../contracts/wallet-fixtures.js';
import { withFolder } from '../support/folder.js';
import { openTestSqlite } from '../support/sqlite.js';

const STORE_MODULE = new URL('../../dist/adapters/stores/sqlite/store.js', import.meta.url);

/**
 * A process that sends messages to one session, `count` in all, by eight writers, and prints each turn id once it is
 * acknowledged.
 */
function startSender(path: string, sessionId: string, count: number) {
  return startWriter(
    path,
    `let left = ${String(count)};
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (left-- > 0) {
        const turnId = randomUUID();
        const sent = await store.acceptMessage({
          sessionId: ${JSON.stringify(sessionId)}, ifVersion: 1, set: {}, text: turnId, messageId: randomUUID(), turnId,
          app: 'default', clientId: null, keyId: null, quotas: [], idempotency: null, busy: 'enqueue', maxQueued: 1e9, maxSessionBytes: 1e9, claim: null, at: Date.now(),
        });
        if (sent.kind !== 'accepted') throw new Error(sent.kind);
        process.stdout.write(turnId + '\\n');
      }
    }));`,
  );
}

/** A process that makes wallet requests in one session and reports them, and prints each turn id once it is acknowledged. */
function startReporter(path: string, sessionId: string) {
  const [session, payload] = [JSON.stringify(sessionId), JSON.stringify(transfer())];
  return startWriter(
    path,
    `await Promise.all(Array.from({ length: 8 }, async () => {
      for (;;) {
        const turnId = randomUUID();
        const staged = await store.stageWalletRequest({
          sessionId: ${session}, callId: turnId, app: 'default', wallet: 'w', chainId: 1, label: 'l',
          payload: ${payload}, isSound: true, stagedAt: 1, expiresAt: 9e12,
        });
        const ids = [staged.request.id];
        const asked = await store.requestWallet({ sessionId: ${session}, ids, event: '{}', daily: null, expiresAt: 9e12, by: null, at: 2 });
        if (asked.kind !== 'requested') throw new Error(asked.kind);
        const reported = await store.reportWalletOutcome({
          sessionId: ${session}, ids, state: 'reported', claim: { status: 'success', proof: turnId, error: null }, turnId,
          messageId: randomUUID(), text: turnId, app: 'default', clientId: null, claimTurn: null, at: 3,
        });
        if (reported.kind !== 'accepted') throw new Error(reported.kind);
        process.stdout.write(turnId + '\\n');
      }
    }));`,
  );
}

/** A process that opens the store and runs a script on it. */
function startWriter(path: string, body: string) {
  const script = `
    import { randomUUID } from 'node:crypto';
    import { openSqliteStore } from ${JSON.stringify(STORE_MODULE.href)};
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} });
    ${body}
    await store.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  return { child, exited, lines: createInterface({ input: child.stdout }) };
}

async function turnsOf(store: Store, sessionId: string) {
  const { open } = await loaded(store, sessionId);
  return open.map(({ turn, messages }) => ({
    no: turn.no,
    id: turn.id,
    texts: messages.map((m) => m.content),
  }));
}

describe('durability of the SQLite store', () => {
  it(
    'keeps every acknowledged message when the process is killed',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'a.db');
        const id = randomUUID();
        const first = await openTestSqlite({ path });
        await send(first, id);
        await first.close();

        const { child, exited, lines } = startSender(path, id, 1_000_000);
        const acknowledged: string[] = [];
        for await (const line of lines) {
          acknowledged.push(line);
          if (acknowledged.length === 300) child.kill('SIGKILL');
        }
        expect(await exited).toEqual([null, 'SIGKILL']);

        const store = await openTestSqlite({ path });
        const turns = await turnsOf(store, id);
        expect(turns.map(({ no }) => no)).toEqual(turns.map((_, index) => index + 1));
        const stored = new Map(turns.map((turn) => [turn.id, turn.texts]));
        expect(acknowledged.length).toBeGreaterThanOrEqual(300);
        for (const turnId of acknowledged) expect(stored.get(turnId)).toEqual([turnId]);
        await store.close();
      }),
    20_000,
  );

  it(
    'keeps every acknowledged report of a wallet, with its turn, when the process is killed',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'a.db');
        const id = randomUUID();
        const first = await openTestSqlite({ path });
        await first.saveSession(change(id));
        await first.close();

        const { child, exited, lines } = startReporter(path, id);
        const acknowledged: string[] = [];
        for await (const line of lines) {
          acknowledged.push(line);
          if (acknowledged.length === 100) child.kill('SIGKILL');
        }
        expect(await exited).toEqual([null, 'SIGKILL']);

        const store = await openTestSqlite({ path });
        const turns = await turnsOf(store, id);
        const requests = await store.readWalletRequests(id, { limit: 1_000_000 });
        const reported = requests.flatMap(({ state, turnId }) => (state === 'reported' ? [turnId] : []));
        expect(reported).toEqual(expect.arrayContaining(acknowledged));
        // Whatever was cut off: what is reported has its turn, and what is pending is shown.
        expect(turns.map((turn) => turn.id).sort()).toEqual(reported.sort());
        for (const turn of turns) expect(turn.texts).toEqual([turn.id]);
        const pending = requests.filter(({ state }) => state === 'pending').map((request) => request.id);
        expect((await loaded(store, id)).session.pending.map((request) => request.id)).toEqual(pending);
        await store.close();
      }),
    20_000,
  );

  it(
    'shares a file with another process that writes at the same time',
    () =>
      withFolder(async (folder) => {
        const path = join(folder, 'a.db');
        const id = randomUUID();
        const store = await openTestSqlite({ path });
        await send(store, id);

        const { exited, lines } = startSender(path, id, 150);
        const theirs: string[] = [];
        const mine: string[] = [];
        for await (const line of lines) {
          theirs.push(line);
          const sent = await send(store, id, { ifVersion: 1, maxQueued: 10_000 });
          mine.push(sent.turn.id);
          // What was acknowledged to the other process can be read here.
          expect(await store.readTurn(id, line)).toBeDefined();
        }
        expect(await exited).toEqual([0, null]);
        const turns = await turnsOf(store, id);
        expect(turns.map(({ no }) => no)).toEqual(Array.from({ length: 301 }, (_, index) => index + 1));
        const stored = new Set(turns.map((turn) => turn.id));
        expect([...theirs, ...mine].filter((turnId) => !stored.has(turnId))).toEqual([]);
        await store.close();
      }),
    20_000,
  );
});

describe('backups of the SQLite store', () => {
  it('copies a database that is being written to, as it was when it was asked', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const ids = Array.from({ length: 200 }, () => randomUUID());
      const big = 'x'.repeat(20_000);
      await Promise.all(ids.map((id) => store.acceptMessage(acceptance(id, { text: big }))));

      const file = join(folder, 'backup.db');
      const copying = { now: true };
      const backup = backupDatabase(path, file).finally(() => {
        copying.now = false;
      });
      const later: string[] = [];
      while (copying.now) {
        const id = randomUUID();
        await store.acceptMessage(acceptance(id));
        later.push(id);
      }
      await backup;
      expect(later.length).toBeGreaterThan(0);
      await store.deleteSession(ids[0] ?? '', 0);
      await store.close();

      const restored = await openTestSqlite({ path: file });
      expect((await restored.heads(ids)).size).toBe(ids.length);
      expect(await contents(restored, ids[0] ?? '')).toEqual([big]);
      const present = later.map((id) => restored.revisionOf(id));
      expect((await Promise.all(present)).at(-1)).toBe('unknown');
      await send(restored, ids[0] ?? '', { text: 'goes on' });
      await restored.close();
    }));

  it('does not copy a damaged database, which can still be opened', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      for (let n = 0; n < 100; n++) await send(store, randomUUID(), { text: 'x'.repeat(2000) });
      await store.close();
      const bytes = readFileSync(path);
      bytes.fill(0xa5, bytes.length / 2);
      writeFileSync(path, bytes);

      const backup = backupDatabase(path, join(folder, 'copy.db'));
      await expect(backup).rejects.toThrow(StoreUnavailableError);
      await expect(backup).rejects.toThrow(/^the database .*a\.db is damaged: .*page/i);
      expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
    }));

  it('creates nothing before its caller can listen for signals', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await (await openTestSqlite({ path })).close();
      const backup = backupDatabase(path, join(folder, 'copy.db'));
      // Files are created by other threads: gives them the time to do so.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
      await backup;
    }));

  it('does not write over a file', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const store = await openTestSqlite({ path });
      const file = join(folder, 'mine.txt');
      writeFileSync(file, 'mine');
      await expect(backupDatabase(path, file)).rejects.toThrow(/mine\.txt/);
      expect(readFileSync(file, 'utf8')).toBe('mine');
      await expect(backupDatabase(path, join(folder, 'no', 'such', 'folder'))).rejects.toThrow();
      await store.close();
    }));
});
