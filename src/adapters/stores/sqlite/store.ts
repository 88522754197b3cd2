import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../../core/ports/log.js';
import type { Prune } from '../../../core/ports/store.js';
import { StoreUnavailableError, type SessionHead, type Store } from '../../../core/ports/store.js';
import { backupDatabase } from './backup.js';
import { changeValues, toSaved } from './writer/crossing.js';
import { readError } from './failure.js';
import { requireFreeSpace } from './files/free-space.js';
import { PRUNE_START } from './writes/prune.js';
import { Reader, type Reads } from './reads/reader.js';
import { Writer } from './writer/writer.js';

/** Which file, and how it is written. */
export interface SqliteOptions {
  /** A file, which is made with its folder when there is none, or `:memory:`: a temporary file, removed on close. */
  readonly path: string;
  /** The compiled module of the writing thread; absent: the one beside this module. */
  readonly worker?: URL;
  /** How long a write waits for another process that has the database locked, in milliseconds. */
  readonly busyTimeoutMs?: number;
  /** How large the file may grow, in pages of 4 KiB; absent: as far as the disk goes. */
  readonly maxPages?: number;
  readonly log?: Log;
  /** Files that a service makes beside its database: where they are, an empty database is a lost one. */
  readonly companions?: readonly string[];
}

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /** What was expected in the database when it was opened, and was not there; in words for the operator. */
  readonly missing: readonly string[];
  /**
   * Copies the database while it is in use, and tells what share of it is copied. @throws Error when the file exists
   */
  backup(file: string, onProgress?: (share: number) => void): Promise<void>;
}

/**
 * Opens a store in a SQLite file. Other processes may have the same file open. Writes run in a thread of their own;
 * what is small is read on the calling one.
 * @throws StoreUnavailableError when the file is damaged, locked, or cannot be made
 * @throws Error when it was written by a newer version of this program
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const place = await findPlace(options.path);
  const url = options.worker ?? new URL('./writer/worker.js', import.meta.url);
  const reader = new Reader(place.file);
  const { log } = options;
  try {
    const writer = await Writer.open(
      url,
      {
        path: place.file,
        busyTimeoutMs: options.busyTimeoutMs ?? 5000,
        maxPages: options.maxPages ?? null,
        companions: options.companions ?? [],
      },
      {
        onLogLost(reason) {
          log?.error({ err: reason }, 'the write-ahead log of the database was lost');
          reader.suspend(reason);
        },
        onReopened() {
          reader.resume();
          log?.info({}, 'the database was opened again');
        },
      },
    );
    for (const missing of writer.missing) log?.error({ missing }, 'the data is not whole');
    return createStore(place, writer, reader);
  } catch (error) {
    await place.leave();
    throw error;
  }
}

/**
 * A service with many streams asks for all their sessions every two seconds: a thousand at once would hold the event
 * loop up for 12 ms.
 */
const HEADS_AT_ONCE = 32;

/** Where the file is, and what to do when it is no longer needed. */
interface Place {
  readonly file: string;
  leave(): Promise<void>;
}

async function findPlace(path: string): Promise<Place> {
  if (path === ':memory:') {
    // A file all the same, for reader and writer are two connections.
    const folder = await mkdtemp(join(tmpdir(), 'diptych-'));
    return { file: join(folder, 'diptych.db'), leave: () => rm(folder, { recursive: true, force: true }) };
  }
  await mkdir(dirname(path), { recursive: true }).catch((cause: unknown) => {
    throw new StoreUnavailableError(`cannot make the folder of the database ${path}`, { cause });
  });
  return { file: path, leave: () => Promise.resolve() };
}

function createStore(place: Place, writer: Writer, reader: Reader): SqliteStore {
  reader.open();
  let closing: Promise<void> | undefined;

  async function read<T>(run: (reads: Reads) => T | Promise<T>): Promise<T> {
    if (closing !== undefined) throw new StoreUnavailableError('the store is closed');
    try {
      return await run(reader.open());
    } catch (error) {
      throw readError(error);
    }
  }

  async function heads(ids: readonly string[]): ReturnType<Store['heads']> {
    const found = new Map<string, SessionHead | 'deleted'>();
    for (let from = 0; from < ids.length; from += HEADS_AT_ONCE) {
      if (from > 0) await setImmediate();
      const some = ids.slice(from, from + HEADS_AT_ONCE);
      for (const [id, head] of await read((reads) => reads.heads(some))) found.set(id, head);
    }
    return found;
  }

  async function close(): Promise<void> {
    // Before the writer, whose closing then is the last and folds the log into the file.
    reader.close();
    await writer.close();
    await place.leave();
  }

  return {
    missing: writer.missing,
    loadThread: (id) => read((reads) => reads.loadThread(id)),
    loadTail: (id, count) => read((reads) => reads.loadTail(id, count)),
    revisionOf: (id) => read((reads) => reads.revisionOf(id)),
    heads,
    listThreads: (wallet, page) => read((reads) => reads.listThreads(wallet, page)),
    listSessions: (page) => read((reads) => reads.listSessions(page)),
    readMessages: (id, page) => read((reads) => reads.readMessages(id, page)),
    readTurn: (sessionId, turnId) => read((reads) => reads.readTurn(sessionId, turnId)),
    readFlight: (sessionId) => read((reads) => reads.readFlight(sessionId)),
    countTurns: () => read((reads) => reads.countTurns()),
    readEvents: (id, after, limit) => read((reads) => reads.readEvents(id, after, limit)),
    readSystemEvents: (id, count) => read((reads) => reads.readSystemEvents(id, count)),
    readSecrets: (client, app) => read((reads) => reads.readSecrets(client, app)),
    secretKeyIds: () => read((reads) => reads.secretKeyIds()),
    readSecretsNotUnder: (keyId, limit) => read((reads) => reads.readSecretsNotUnder(keyId, limit)),
    readOpenTurns: (limit) => read((reads) => reads.readOpenTurns(limit)),
    countSessions: (since, limit) => read((reads) => reads.countSessions(since, limit)),
    readUses: (from, limit) => read((reads) => reads.readUses(from, limit)),
    findKey: (digest) => read((reads) => reads.findKey(digest)),
    listKeys: () => read((reads) => reads.listKeys()),

    saveSession: (change) => writer.run('saveSession', ...changeValues(change)).then(toSaved),
    deleteSession: (id, at) => writer.run('deleteSession', id, at),
    acceptMessage: (acceptance) => writer.run('acceptMessage', acceptance),
    interruptTurns: (sessionId, at) => writer.run('interruptTurns', sessionId, at),
    takeOver: (turnId, lease) => writer.run('takeOver', turnId, lease),
    readLeases: () => read((reads) => reads.readLeases()),
    async claimAbandoned(lease, lost, limit) {
      // An idle server asks often: it must not write each time.
      const some = lost.length > 0 || (await read((reads) => reads.hasUnclaimed()));
      return some ? writer.run('claimAbandoned', lease, lost, limit) : [];
    },
    openCall: (call, lease, event, at) => writer.run('openCall', call, lease, event, at),
    logCall: (callId, owner, event, at) => writer.run('logCall', callId, owner, event, at),
    closeCall: (callId, holder, event, at) => writer.run('closeCall', callId, holder, event, at),
    readCallLeases: () => read((reads) => reads.readCallLeases()),
    renewCalls: (lease, callIds) =>
      callIds.length === 0 ? Promise.resolve() : writer.run('renewCalls', lease, callIds),
    renewLeases: (lease, turnIds) => writer.run('renewLeases', lease, turnIds),
    releaseTurns: (owner, turnIds) => writer.run('releaseTurns', owner, turnIds),
    saveProgress: (turn, progress, at) => writer.run('saveProgress', turn, progress, at),
    endTurn: (turn, ending) => writer.run('endTurn', turn, ending),
    appendEvents: (id, events, at) => writer.run('appendEvents', id, events, at),
    claimFaults: (id, claim, lost) => writer.run('claimFaults', id, claim, lost),
    releaseFaults: (id, owner) => writer.run('releaseFaults', id, owner),
    markFaultsShown: (id, n) => writer.run('markFaultsShown', id, n),
    putSecrets: (client, secrets, bounds, at) => writer.run('putSecrets', client, secrets, bounds, at),
    noteSecretUse: (client, at, notedBefore) => writer.run('noteSecretUse', client, at, notedBefore),
    secretTotals: () => read((reads) => reads.secretTotals()),
    listSecretClients: (limit) => read((reads) => reads.listSecretClients(limit)),
    pruneSecrets: (before, limit) => writer.run('pruneSecrets', before, limit),
    deleteSecrets: (client, which) => writer.run('deleteSecrets', client, which),
    resealSecret: (client, from, to) => writer.run('resealSecret', client, from, to),
    countRequest: (quotas) =>
      quotas.length === 0 ? Promise.resolve(undefined) : writer.run('countRequest', quotas),
    addUsage: async (rows) => {
      if (rows.length > 0) await writer.run('addUsage', rows);
    },
    readUsage: (since) => read((reads) => reads.readUsage(since)),
    readUsageClients: (since) => read((reads) => reads.readUsageClients(since)),
    saveKey: (key) => writer.run('saveKey', key),
    revokeKey: (id, at) => writer.run('revokeKey', id, at),

    async check() {
      await Promise.all([writer.run('probe', Date.now()), requireFreeSpace(place.file)]);
      await read((reads) => {
        reads.probe();
      });
    },
    prune: (prune) => pruneAll(writer, prune),
    backup: (file, onProgress) => read(() => backupDatabase(place.file, file, onProgress)),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Removes in small steps, between which other writes get their turn. */
async function pruneAll(writer: Writer, prune: Prune): Promise<string[]> {
  const deleted: string[] = [];
  for (let from = PRUNE_START; ;) {
    const done = await writer.run('pruneSome', prune, from);
    deleted.push(...done.deleted);
    if (done.next === null) return deleted;
    from = done.next;
  }
}
