import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import { Place, type Running } from '../cli/running.js';
import { describeWhere } from '../support/describe-where.js';
import { messagesOf } from '../support/snapshot.js';

// Five processes start, and the service ends by draining.
jest.setTimeout(60_000);

const FOLDER = fileURLToPath(new URL('../../docs/examples/desk/', import.meta.url));
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const PAYEE = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';

const canRun = process.env.CI === 'true' || hasAnvil();
const missing = canRun ? null : 'skipped: @foundry-rs/anvil has no program for this platform';
describeWhere(missing)('the example App', exampleApp);

function exampleApp(): void {
  const place = new Place();
  const temporary = join(place.directory, 'tmp');
  let running: Running;
  let shown: Shown;

  beforeAll(async () => {
    mkdirSync(temporary);
    running = place.start(join(FOLDER, 'start.mjs'), [], { TMPDIR: temporary });
    await running.says(/get-sum.*\n/);
    shown = readShown(running.out());
  });
  afterAll(() => place.clear());

  it('shows lines that work when they are pasted one after the other', async () => {
    const answers: string[] = [];
    for (const line of shown.lines) answers.push(await paste(line, shown.variables, place));
    const [balance, prices, streamedBalance, streamedPrice, echo, order, ...rest] = answers;
    const [asked, paid, askedToken, paidToken, refused, token, sum, ...more] = rest;

    expect(messagesOf(parsed(balance)).at(-1)?.content).toBe(`${WALLET} has 10000 ETH on Desk Chain.`);
    expect(messagesOf(parsed(prices)).at(-1)?.content).toBe('ETH is 3150.12 USD. BTC is 64250.5 USD.');
    expect(textOf(streamedBalance)).toBe(`${WALLET} has 10000 ETH on Desk Chain.`);
    expect(textOf(streamedPrice)).toBe('ETH is 3150.12 USD.');
    expect(textOf(echo)).toBe('The tool everything.echo answered: Echo: Hello.');
    expect(textOf(order)).toContain('6315.99 USD, of which 15.75 USD are the fee');
    expect(messagesOf(parsed(asked)).at(-1)?.content).toMatch(
      /^Please approve in your wallet: send 0\.01 ETH to /,
    );
    const request = { to: PAYEE, value: '10000000000000000', chain_id: 31_337, kind: 'native_transfer' };
    expect(parsed(asked)).toMatchObject({ user_state: { pending_txs: { '1': request } } });
    expect(paid).toMatch(
      /^The wallet sent request 1 .*\n[^]*\nagent: Request 1 \([^)]*\) is confirmed: transaction 0x/,
    );
    expect(parsed(askedToken)).toMatchObject({ user_state: { pending_txs: { '2': { value: '0' } } } });
    expect(paidToken).toMatch(/agent: Request 2 \(send 5 DUSD to [^)]*\) is confirmed/);
    expect(messagesOf(parsed(refused)).at(-1)?.content).toContain('This App may not send transactions to');
    expect(await balanceAt(shown.node, PAYEE)).toBe(10_000n * 10n ** 18n + 10n ** 16n);
    expect(parsed(token)).toMatchObject({ result: { balance: '2495.75', unit: 'DUSD' } });
    expect(parsed(sum)).toMatchObject({ result: 'The sum of 2 and 40 is 42.' });
    expect(more).toEqual([]);
  });

  it('takes the fee off for a client with a voucher', async () => {
    const { URL: url = '', K: key = '', S: session = '' } = shown.variables;
    const headers = { 'X-Session-Id': session, 'SERVICE-APP-KEY': key, 'Content-Type': 'application/json' };
    const post = (path: string, body: object): Promise<Response> =>
      fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ ...body, app: 'desk' }) });
    const client = 'a-client-of-the-desk';
    await post('/api/secrets', { client_id: client, secrets: { VOUCHER: 'spring-2027' } });
    const order = { name: 'quote_order', args: { amount: 2, price: 3150.12 }, client_id: client };
    const answer: unknown = await (await post('/api/tools', order)).json();
    expect(answer).toMatchObject({ result: { total: '6300.24' } });
  });

  it('names a fee for simulations', async () => {
    const { URL: url = '', S: session = '' } = shown.variables;
    const response = await fetch(`${url}/api/simulate`, {
      method: 'POST',
      headers: { 'X-Session-Id': session, 'Content-Type': 'application/json' },
      body: JSON.stringify({ transactions: [{ to: PAYEE, value: '1' }] }),
    });
    expect(await response.json()).toMatchObject({
      result: { batch_success: true, fee: { recipient: PAYEE, amount_wei: '1', token: 'native' } },
    });
  });

  it('needs its key', async () => {
    const { URL: url = '', S: session = '' } = shown.variables;
    const answer = await fetch(`${url}/api/chat?app=desk&message=Hello`, {
      method: 'POST',
      headers: { 'X-Session-Id': session },
    });
    expect(answer.status).toBe(401);
  });

  it('leaves nothing behind on Ctrl-C', async () => {
    const processes = descendantsOf(running.child.pid ?? 0);
    // The node, the service and the tool server.
    if (process.platform === 'linux') expect(processes.length).toBe(3);
    expect(readdirSync(temporary)).toHaveLength(1);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(0);
    expect(processes.filter(isRunning)).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
    for (const url of [shown.variables.URL ?? '', shown.node]) await expect(fetch(url)).rejects.toThrow();
  });
}

describeWhere(missing)('the example App with --pay', () => {
  it('pays the desk, from words to a verdict', async () => {
    const place = new Place();
    try {
      const running = place.start(join(FOLDER, 'start.mjs'), ['--pay']);
      await running.says(
        /user: Send 0\.01 ETH to 0x[^]*agent: Please approve[^]*agent: Request 1 .* is confirmed/,
      );
      running.child.kill('SIGINT');
      expect(await running.ended).toBe(0);
    } finally {
      await place.clear();
    }
  });
});

describe('the contracts of the example App', () => {
  it('are checked in as they are compiled', async () => {
    const place = new Place();
    try {
      const compiled = place.start(join(FOLDER, 'contracts/compile.mjs'), ['--print']);
      expect(await compiled.ended).toBe(0);
      expect(compiled.out()).toBe(readFileSync(join(FOLDER, 'contracts/Desk.json'), 'utf8'));
    } finally {
      await place.clear();
    }
  });
});

/** What the example shows a person. */
interface Shown {
  readonly variables: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
  readonly node: string;
}

function readShown(text: string): Shown {
  const lines = text.split('\n').filter((line) => /^(?:curl|node) /.test(line));
  const node = /chain on (\S+)\./.exec(text)?.[1] ?? '';
  return { variables: pairs(text, /^([A-Z]+)=(\S+)$/gm), lines, node };
}

/** What a pattern with two groups finds, as an object. */
function pairs(text: string, pattern: RegExp): Record<string, string> {
  const found = [...text.matchAll(pattern)];
  return Object.fromEntries(found.map(([, name = '', value = '']): [string, string] => [name, value]));
}

/** Does what the shell would do with the line. Returns the answer's body, or the output of the script. */
async function paste(line: string, variables: Shown['variables'], place: Place): Promise<string> {
  if (line.startsWith('node ')) {
    const [script = '', ...args] = line.slice('node '.length).split(' ');
    const values = args.map((name) => variables[name.slice(1)] ?? '');
    const running = place.start(join(FOLDER, '../../..', script), values);
    expect(await running.ended).toBe(0);
    return running.out();
  }
  const body = / -d '([^']*)'$/.exec(line)?.[1];
  const rest = line
    .replace(/ -d '.*$/, '')
    .replaceAll(/\$([A-Z]+)/g, (_whole, name: string) => variables[name] ?? '');
  const url = /"(http[^"]*)"/.exec(rest)?.[1] ?? '';
  const headers = pairs(rest, /-H "([^:]*): ([^"]*)"/g);
  const response = await fetch(url, {
    method: 'POST',
    headers,
    ...(body !== undefined && { body }),
  });
  return response.text();
}

async function balanceAt(node: string, address: string): Promise<bigint> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_getBalance',
    params: [address, 'latest'],
  });
  const headers = { 'Content-Type': 'application/json' };
  const answer = parsed(await (await fetch(node, { method: 'POST', headers, body })).text());
  return BigInt(typeof answer.result === 'string' ? answer.result : '0');
}

function parsed(text = ''): JsonObject {
  const json: unknown = JSON.parse(text);
  if (!isJsonObject(json)) throw new Error(`no object: ${text}`);
  return json;
}

/** The text of a legacy stream that has ended as it should. */
function textOf(stream = ''): string {
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, json]) => parsed(json));
  expect(events.at(-1)).toEqual({ type: 'complete' });
  return events
    .map(({ type, content }) => (type === 'text' && typeof content === 'string' ? content : ''))
    .join('');
}

/** The processes below one; none where the system does not list them. */
function descendantsOf(pid: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8').trim();
  const pids = children === '' ? [] : children.split(' ').map(Number);
  return pids.flatMap((child) => [child, ...descendantsOf(child)]);
}

function isRunning(pid: number): boolean {
  const file = `/proc/${String(pid)}/status`;
  return existsSync(file) && !/^State:\s+Z/m.test(readFileSync(file, 'utf8'));
}

function hasAnvil(): boolean {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  try {
    createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`);
    return true;
  } catch {
    return false;
  }
}
