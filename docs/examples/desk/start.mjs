// The App `desk` with all that it talks to, on this machine alone:  npm run example
// It listens on PORT (8080; 0: any free one). Ctrl-C ends everything. With --pay, it also pays the desk once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { deployContracts, startNode } from './chain.mjs';
import { pay } from './payment.mjs';
import { startPriceSource } from './price-source.mjs';
import { makeKey, startService, waitForTool } from './service.mjs';
import { thingsToTry } from './things-to-try.mjs';

/** What ends the things that were started, in their order. */
const ends = [];
let isEnding = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
try {
  const desk = await start();
  process.stdout.write(thingsToTry(desk));
  if (process.argv.includes('--pay')) process.stdout.write(`\nA payment\n${await pay(desk)}`);
} catch (error) {
  if (!isEnding) console.error(`The example cannot start: ${error.message}`);
  await end(1);
}

async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'desk-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  const node = await startNode();
  ends.push(node.end);
  const prices = await startPriceSource();
  ends.push(prices.end);
  const { token, feed, wallet, payee } = await deployContracts(node.url);

  const env = {
    ...process.env,
    CONFIG_FILE: fileURLToPath(new URL('diptych.yaml', import.meta.url)),
    DATABASE_URL: `sqlite:${join(folder, 'desk.db')}`,
    // The configuration refers to these.
    DESK_NODE: node.url,
    DESK_TOKEN: token,
    DESK_FEED: feed,
    DESK_PAYEE: payee,
    DESK_PRICES: prices.url,
  };
  const key = await makeKey(env);
  const service = await startService(env);
  ends.push(service.end);
  for (const { ended } of [node, service]) ended.then(() => end(1));
  await waitForTool('everything.echo', { url: service.url, key });
  return { url: service.url, node: node.url, key, wallet, payee };
}

/** Ends the last thing first. */
async function end(code) {
  if (isEnding) return;
  isEnding = true;
  for (const step of ends.reverse()) await step();
  process.exit(code);
}
