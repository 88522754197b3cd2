/** The entry of the writing thread. It commits whatever waits as one transaction, and answers after the commit. */
import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { createBatch } from './batch.js';
import { openWriting, type WriterOptions } from './connections.js';
import { toFailure } from './failure.js';
import { NewerDatabaseError } from './migrate.js';
import type { Reply, Request } from './messages.js';
import type { Call } from './steps.js';
import { createWrites } from './writes.js';

/** By how many steps of `nice` this thread gives way to the event loop: it still has a tenth of a core that the event loop would take whole. */
const NICER_BY = 10;

/** More would make the first of them wait too long. */
const MAX_BATCH = 512;

/** Where this thread shares a core with the event loop, tokens go before writes, which nobody sees late. */
function giveWayToEventLoop(): void {
  // Here, without a number, the priority is that of the thread; elsewhere of the whole process.
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW));
  } catch {
    // It may not be changed here.
  }
}

function isWriterOptions(value: unknown): value is WriterOptions {
  return typeof value === 'object' && value !== null && 'path' in value && 'busyTimeoutMs' in value;
}

function serve(port: MessagePort, db: Database): void {
  const runBatch = createBatch(db, createWrites(db));
  const tell = (reply: Reply) => {
    port.postMessage(reply);
  };

  port.on('message', (first: Request) => {
    const calls: Call[] = [];
    let request: Request | undefined = first;
    while (request?.type === 'run') {
      calls.push(...request.calls);
      const waiting: { message: Request } | undefined =
        calls.length < MAX_BATCH ? receiveMessageOnPort(port) : undefined;
      request = waiting?.message;
    }
    if (calls.length > 0) tell({ type: 'outcomes', outcomes: runBatch(calls) });
    if (request?.type === 'close') {
      db.close();
      port.close();
    }
  });
  tell({ type: 'ready' });
}

function start(port: MessagePort, options: unknown): void {
  if (!isWriterOptions(options)) throw new Error('the writing thread was started without its options');
  try {
    serve(port, openWriting(options));
  } catch (error) {
    const failure = toFailure(error, error instanceof NewerDatabaseError ? 'newer' : 'unavailable');
    const message = `cannot open ${options.path}: ${failure.message}`;
    const reply: Reply = { type: 'refused', failure: { ...failure, message } };
    port.postMessage(reply);
    port.close();
  }
}

if (parentPort === null) throw new Error('this module runs in a worker thread');
giveWayToEventLoop();
start(parentPort, workerData);
