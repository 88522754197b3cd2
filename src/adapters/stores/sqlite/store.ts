import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../../core/ports/log.js';
import type { Prune } from '../../../core/ports/store.js';
import { StoreUnavailableError, type SessionHead, type Store } from '../../../core/ports/store.js';
import { readError } from './failure.js';
import { requireFreeSpace } from './files/free-space.js';
import { makeFolder } from './files/private-files.js';
import { Reader, type Reads } from './reads/reader.js';
import type { Pruned, PruneStage } from './steps.js';
import { Writer } from './writer/writer.js';

/** Options for opening a SQLite store. */
export interface SqliteOptions {
  /** Path of the file, or `:memory:`: a temporary file that is removed on close. */
  readonly path: string;
  /** Whether a missing file is created, with its folder. Default true. */
  readonly creates?: boolean;
  /** Whether an older schema is migrated. False: it is an error, and only an empty database gets one. Default true. */
  readonly migrates?: boolean;
  /** Compiled module of the writer thread. Absent: the one beside this module. */
  readonly worker?: URL;
  /** How long a write waits for another process's lock on the database, in milliseconds. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Maximum size of the file, in pages of 4 KiB. Absent: limited only by the disk. */
  readonly maxPages?: number;
  readonly log?: Log;
  /** Files that a service creates beside its database. If they exist and the database is empty, its data was lost. */
  readonly companions?: readonly string[];
}

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /** Data that was found missing when the database was opened, as messages for the operator. */
  readonly missing: readonly string[];
}

/**
 * Opens a store in a SQLite file, which other processes may have open, too. Writes run in a separate thread, reads on
 * the calling one.
 * @throws StoreUnavailableError when the file is damaged, locked, missing, or cannot be created
 * @throws SchemaVersionError when its schema is newer than this program, or older and must not be migrated
 */
export async function openSqliteStore(options: SqliteOptions): Promise<SqliteStore> {
  const creates = options.creates ?? true;
  const place = await findPlace(options.path, creates);
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
        creates,
        migrates: options.migrates ?? true,
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
    for (const missing of writer.missing) log?.error({ missing }, 'the database has lost data');
    return createStore(place, writer, reader);
  } catch (error) {
    await place.leave();
    throw error;
  }
}

/**
 * Batch size for reading session heads. A service with many streams reads the heads of all their sessions regularly;
 * reading them in one batch would block the event loop.
 */
const HEADS_AT_ONCE = 32;
/** How many steps of a prune delete threads, so that other data does not wait for hours. */
const MAX_THREAD_STEPS = 500;

/** Path of the database file, and how to clean up after closing it. */
interface Place {
  readonly file: string;
  leave(): Promise<void>;
}

async function findPlace(path: string, creates: boolean): Promise<Place> {
  if (path === ':memory:') {
    // A temporary file, because the reader and the writer thread need a database that both can open.
    const folder = await mkdtemp(join(tmpdir(), 'diptych-'));
    return { file: join(folder, 'diptych.db'), leave: () => rm(folder, { recursive: true, force: true }) };
  }
  if (creates) await makeFolder(path);
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
    // Reader first: closing the last connection, the writer's, checkpoints the log into the file.
    reader.close();
    await writer.close();
    await place.leave();
  }

  return {
    missing: writer.missing,
    loadThread: (id, part) => read((reads) => reads.loadThread(id, part)),
    loadTail: (id, count) => read((reads) => reads.loadTail(id, count)),
    revisionOf: (id) => read((reads) => reads.revisionOf(id)),
    heads,
    listThreads: (wallet, page) => read((reads) => reads.listThreads(wallet, page)),
    listSessions: (page) => read((reads) => reads.listSessions(page)),
    readMessages: (id, page) => read((reads) => reads.readMessages(id, page)),
    readTurn: (sessionId, turnId) => read((reads) => reads.readTurn(sessionId, turnId)),
    readTurns: (id, numbers) => read((reads) => reads.readTurns(id, numbers)),
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

    saveSession: (change) => writer.run('saveSession', change),
    deleteSession: (id, at) => writer.run('deleteSession', id, at),
    branchSession: (branching) => writer.run('branchSession', branching),
    acceptMessage: (acceptance) => writer.run('acceptMessage', acceptance),
    interruptTurns: (sessionId, at) => writer.run('interruptTurns', sessionId, at),
    takeOver: (turnId, lease) => writer.run('takeOver', turnId, lease),
    readLeases: () => read((reads) => reads.readLeases()),
    async claimAbandoned(lease, lost, limit) {
      // Reads first, so that an idle server does not write at every poll.
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
    countAttempts: (attempts) => writer.run('countAttempts', attempts),
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
    stageWalletRequest: (request) => writer.run('stageWalletRequest', request),
    requestWallet: (ask) => writer.run('requestWallet', ask),
    reportWalletOutcome: (report) => writer.run('reportWalletOutcome', report),
    verifyWalletRequest: (sessionId, id, turnId, verification) =>
      writer.run('verifyWalletRequest', sessionId, id, turnId, verification),
    readWalletRequests: (sessionId, which) => read((reads) => reads.readWalletRequests(sessionId, which)),
    walletValueSince: (use) => read((reads) => reads.walletValueSince(use)),
    findSettledBy: (chainId, hash) => read((reads) => reads.findSettledBy(chainId, hash)),
    async expireWalletRequests(now, limit) {
      // Reads first, as `claimAbandoned` does.
      const some = await read((reads) => reads.hasOverdueRequests(now));
      return some ? writer.run('expireWalletRequests', now, limit) : [];
    },
    addNote: (note) => writer.run('addNote', note),
    countRequest: (quotas) =>
      quotas.length === 0 ? Promise.resolve(undefined) : writer.run('countRequest', quotas),
    addUsage: async (rows) => {
      if (rows.length > 0) await writer.run('addUsage', rows);
    },
    readUsage: (since) => read((reads) => reads.readUsage(since)),
    readUsageClients: (since) => read((reads) => reads.readUsageClients(since)),
    claimNotice: (claim) => writer.run('claimNotice', claim),
    settleNotice: (name, owner, at) => writer.run('settleNotice', name, owner, at),
    saveActivity: (added) => writer.run('saveActivity', added),
    readActivity: (since) => read((reads) => reads.readActivity(since)),
    readFailures: (limit) => read((reads) => reads.readFailures(limit)),
    readWork: (since) => read((reads) => reads.readWork(since)),
    saveKey: (key) => writer.run('saveKey', key),
    revokeKey: (id, at) => writer.run('revokeKey', id, at),

    async check() {
      await Promise.all([writer.run('probe', Date.now()), requireFreeSpace(place.file)]);
      await read((reads) => {
        reads.probe();
      });
    },
    prune: (prune, signal) => pruneAll(writer, prune, signal),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Prunes in small steps, so that other writes can run in between. */
export async function pruneAll(
  writer: Pick<Writer, 'run'>,
  prune: Prune,
  signal?: AbortSignal,
): Promise<string[]> {
  const deleted: string[] = [];
  let stage: PruneStage | null = 'threads';
  for (let steps = 1; stage !== null && signal?.aborted !== true; steps++) {
    const done: Pruned = await writer.run('pruneSome', prune, stage);
    deleted.push(...done.deleted);
    stage = done.next === 'threads' && steps >= MAX_THREAD_STEPS ? 'events' : done.next;
  }
  return deleted;
}
