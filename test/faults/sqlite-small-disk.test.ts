import { spawnSync } from 'node:child_process';
import { expect, it, jest } from '@jest/globals';
import { describeWhere } from '../support/describe-where.js';
import { withFolder } from '../support/folder.js';

jest.setTimeout(60_000);

const STORE_MODULE = new URL('../../dist/adapters/stores/sqlite/store.js', import.meta.url);
const MEBIBYTE = 1_048_576;

/** A disk of its own in a mount namespace, which goes away with its last process. */
const UNSHARE = ['--map-root-user', '--mount'];

function whyNoDisk(): string | null {
  const tried = spawnSync('unshare', [...UNSHARE, 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']);
  return tried.status === 0 ? null : 'no small disk: unshare cannot mount a tmpfs here';
}

/**
 * Runs lines of a program on a disk of 24 MiB, and returns what it prints as JSON. `send` returns whether a message was
 * stored.
 */
function onSmallDisk(folder: string, lines: string): unknown {
  const script = `
    import { randomUUID } from 'node:crypto';
    import { rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
    import { openSqliteStore } from ${JSON.stringify(STORE_MODULE.href)};
    const disk = ${JSON.stringify(folder)};
    const path = disk + '/a.db';
    const store = await openSqliteStore({ path });
    const TEXT = 'x'.repeat(9_000);
    async function send(sessionId) {
      try {
        const sent = await store.acceptMessage({
          sessionId, ifVersion: 0, set: {}, text: TEXT, messageId: randomUUID(), turnId: randomUUID(), app: 'default', clientId: null, keyId: null,
          quotas: [], idempotency: null, busy: 'enqueue', maxQueued: 50, claim: null, at: Date.now(),
        });
        if (sent.kind !== 'accepted') throw new Error(sent.kind);
        return true;
      } catch (error) {
        if (error.name !== 'StoreUnavailableError') throw error;
        return false;
      }
    }
    const taken = [];
    async function fill() {
      for (let id = randomUUID(); await send(id); id = randomUUID()) taken.push(id);
    }
    const report = (value) => writeSync(1, JSON.stringify(value));
    ${lines}
    await store.close();`;
  const mounted = `mount -t tmpfs -o size=24m tmpfs ${folder} && exec "$0" --input-type=module -e "$1"`;
  const ran = spawnSync('unshare', [...UNSHARE, 'sh', '-c', mounted, process.execPath, script], {
    encoding: 'utf8',
  });
  expect(ran.stderr).toBe('');
  return JSON.parse(ran.stdout);
}

describeWhere(whyNoDisk())('a SQLite store on a disk of 24 MiB', () => {
  it('fills the disk with messages, not with its log, and takes messages again after deletions', () =>
    withFolder((folder) => {
      const seen = onSmallDisk(
        folder,
        `await fill();
         const stored = taken.length;
         const log = statSync(path + '-wal').size;
         for (const id of taken.splice(0, 200)) await store.deleteSession(id, Date.now());
         let again = 0;
         while (again < 100 && await send(randomUUID())) again += 1;
         report({ megabytes: stored * TEXT.length / 1e6, log, again });`,
      );
      expect(seen).toEqual({ megabytes: expect.any(Number), log: expect.any(Number), again: 100 });
      const { megabytes, log } = seen as { megabytes: number; log: number };
      expect(megabytes).toBeGreaterThan(14);
      expect(log).toBeLessThan(4 * MEBIBYTE);
      return Promise.resolve();
    }));

  it('goes on by itself when something else gives room back, and has lost nothing', () =>
    withFolder((folder) => {
      const seen = onSmallDisk(
        folder,
        `for (let n = 0; n < 100; n += 1) { const id = randomUUID(); if (await send(id)) taken.push(id); }
         const before = taken.length;
         let size = 0;
         try { for (;;) { writeFileSync(disk + '/ballast', Buffer.alloc(4096), { flag: 'a' }); size += 4096; } } catch {}
         await fill();
         const refused = !await send(randomUUID());
         rmSync(disk + '/ballast');
         let again = 0;
         while (again < 100) { const id = randomUUID(); if (!await send(id)) break; taken.push(id); again += 1; }
         const heads = await store.heads(taken);
         report({ before, refused, again, lost: taken.filter((id) => !heads.has(id)).length });`,
      );
      expect(seen).toEqual({ before: 100, refused: true, again: 100, lost: 0 });
      return Promise.resolve();
    }));
});
