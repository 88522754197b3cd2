import { randomUUID } from 'node:crypto';
import { residentBytes, sleep } from './machine.js';
import type { Context } from './row.js';
import { OpenStreams, REST_MS } from './rows/streams.js';
import { startProduct } from './servers.js';

const KIB = 1024;
/** The first streams make what is made once, and are not counted. */
const FIRST = 1_000;
const FEW = 5_000;

/**
 * Memory of idle streams of sessions of their own: of 5,000, and of as many as were asked for. The service and this
 * process need a descriptor for each (`ulimit -n`).
 */
export async function idle(context: Context, most: number): Promise<string> {
  const product = await startProduct({ upstream: context.upstreamUrl });
  const open = async (count: number): Promise<OpenStreams> => {
    const streams = await OpenStreams.open(product, count, () => randomUUID());
    await sleep(REST_MS);
    return streams;
  };
  const opened = [await open(FIRST)];
  const before = residentBytes(product.pid);
  const lines: string[] = [];
  let counted = 0;
  for (const count of [FEW, most - FIRST]) {
    opened.push(await open(count - counted));
    counted = count;
    const resident = residentBytes(product.pid);
    const each = (resident - before) / KIB / counted;
    lines.push(
      `| ${(counted + FIRST).toLocaleString('en-US')} | ${(resident / KIB / KIB).toFixed(0)} | ${each.toFixed(1)} |`,
    );
  }
  for (const streams of opened) streams.close();
  await product.end();
  return [
    '| idle streams | resident, MiB | each after the first 1,000, KiB |',
    '| --: | --: | --: |',
    ...lines,
  ].join('\n');
}
