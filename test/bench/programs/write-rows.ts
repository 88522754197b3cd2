/**
 * Writes durable rows through the product's SQLite store, ten each millisecond, and measures how late the event loop
 * was. Arguments: the database file, rows a second, seconds. Prints `{rows, p50, p99}`, in milliseconds.
 */
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sleep } from '../machine.js';
import { openSqliteStore } from '../../../src/adapters/stores/sqlite/store.js';

const [, , path = '', rate = '10000', seconds = '3'] = process.argv;
const worker = new URL('../../../dist/adapters/stores/sqlite/writer/worker.js', import.meta.url);
const store = await openSqliteStore({ path, worker });
const delay = monitorEventLoopDelay({ resolution: 1 });

let written = 0;
async function writeOne(): Promise<void> {
  const at = Date.now();
  const set = { title: 'A row', titleSource: 'person' } as const;
  await store.saveSession({ id: randomUUID(), ifMissing: 'create', set, events: [], isActivity: true, at });
  written++;
}

async function write(forSeconds: number): Promise<void> {
  const begun = performance.now();
  const under: Promise<void>[] = [];
  for (let asked = 0; asked < Number(rate) * forSeconds;) {
    const due = ((performance.now() - begun) / 1000) * Number(rate);
    for (; asked < due; asked++) under.push(writeOne());
    await sleep(1);
  }
  await Promise.all(under);
}

await write(0.5);
written = 0;
delay.enable();
const begun = performance.now();
await write(Number(seconds));
delay.disable();
const rows = written / ((performance.now() - begun) / 1000);
process.stdout.write(
  `${JSON.stringify({ rows, p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6 })}\n`,
);
await store.close();
process.exit(0);
