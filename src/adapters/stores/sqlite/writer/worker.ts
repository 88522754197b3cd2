/**
 * Entry point of the writer thread. It commits all pending calls as one transaction and replies after the commit.
 * A separate thread, because waiting for the disk would block the main thread's event loop.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { SchemaVersionError } from '../../schema-version.js';
import { createBatch } from './batch.js';
import { openReading, openWriting, type WriterOptions } from '../connections.js';
import { DiskBound, diskOf } from '../files/disk-bound.js';
import { toFailure } from '../failure.js';
import { GuardedBatch } from './guarded-batch.js';
import { reportMissing } from '../files/missing-data.js';
import { parseRequest, postReply, type Reply, type Request } from './messages.js';
import { OpenFiles } from '../files/open-files.js';
import { explainDenied, requireWritable } from '../files/private-files.js';
import type { Call } from '../steps.js';
import { createWrites } from '../writes/writes.js';

/** Maximum number of calls in a batch, approximately: a larger batch would delay its first calls too long. */
const MAX_BATCH = 512;
/** Interval between checks of the database's files, in milliseconds. */
const WATCH_MS = 1000;

function isWriterOptions(value: unknown): value is WriterOptions {
  return typeof value === 'object' && value !== null && 'path' in value && 'busyTimeoutMs' in value;
}

function serve(
  port: MessagePort,
  db: Database,
  { path, maxPages, missing }: WriterOptions & { readonly missing: readonly string[] },
): void {
  const post = (reply: Reply) => {
    postReply(port, reply);
  };
  const files = new OpenFiles(path);
  const bound = new DiskBound(db, () => diskOf(path), maxPages);
  const runBatch = createBatch(db, createWrites(db), () => bound.makeRoom());
  const batch = new GuardedBatch({
    db,
    files,
    runBatch: (calls) => {
      bound.adjust();
      return runBatch(calls);
    },
    openOther: () => {
      const other = openReading(path);
      // Without a read, it would not hold the lock by which SQLite recognizes the last connection.
      other.prepare('SELECT count(*) FROM sqlite_schema').get();
      return other;
    },
    onLogLost: (failure) => {
      post({ type: 'log_lost', failure });
    },
  });
  // Also checks while idle: commits that exist only in a removed log are lost if the process is killed.
  const watch = setInterval(() => batch.check(), WATCH_MS);

  const nextRequest = () => {
    const waiting: { message: unknown } | undefined = receiveMessageOnPort(port);
    return waiting === undefined ? undefined : parseRequest(waiting.message);
  };

  port.on('message', (message: unknown) => {
    const calls: Call[] = [];
    let request: Request | undefined = parseRequest(message);
    while (request?.type === 'run') {
      calls.push(...request.calls);
      request = calls.length < MAX_BATCH ? nextRequest() : undefined;
    }
    if (calls.length > 0) post({ type: 'outcomes', outcomes: batch.run(calls) });
    if (request?.type === 'close') {
      clearInterval(watch);
      batch.close();
      port.close();
    }
  });
  post({ type: 'ready', identity: files.identity, missing });
}

function start(port: MessagePort, options: unknown): void {
  if (!isWriterOptions(options)) throw new Error('the writer thread was started without its options');
  try {
    const { path, companions, identity } = options;
    // Commands may read a file that they cannot write; a service would refuse every message.
    if (options.migrates) requireWritable(path);
    let missing: readonly string[] = [];
    const note = (found: readonly string[]): void => {
      missing = found;
    };
    // A restarted thread has an identity: the first one has already checked for missing data.
    const db = openWriting(
      options,
      identity === undefined ? reportMissing(path, companions, note) : undefined,
    );
    serve(port, db, { ...options, missing });
  } catch (error) {
    const failure = toFailure(error, error instanceof SchemaVersionError ? error.kind : 'unavailable');
    const denied = explainDenied(options.path);
    const reason = denied === undefined ? failure.message : `${failure.message}: ${denied}`;
    const message = `cannot open ${options.path}: ${reason}`;
    postReply(port, { type: 'refused', failure: { ...failure, message } });
    port.close();
  }
}

if (parentPort === null) throw new Error('this module must run in a worker thread');
start(parentPort, workerData);
