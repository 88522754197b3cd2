import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { sendFrom } from '../support/wallet-house.js';
import { Place, type Running } from './running.js';

jest.setTimeout(60_000);

const CHAIN = 31_337;
const CTRL_D = '\x04';

let anvil: Anvil;
let wallet: string;
let friend: string;
let place: Place;

beforeAll(async () => {
  anvil = await startAnvil(CHAIN);
  [wallet = '', friend = ''] = anvil.accounts.map((account) => account.toLowerCase());
});
afterAll(() => anvil.close());
beforeEach(() => {
  place = new Place();
  const chains = `chains: [{ id: ${String(CHAIN)}, name: Local, rpcUrls: ['${anvil.url}'], ens: null }]`;
  writeFileSync(join(place.directory, 'diptych.yaml'), chains);
});
afterEach(() => place.clear());

/** Types a line, and resolves once its output and a prompt have come. */
async function say(chat: Running, line: string, output: RegExp): Promise<RegExpExecArray> {
  const from = chat.out().length;
  chat.child.stdin?.write(`${line}\r`);
  await chat.says(new RegExp(`^[^]{${String(from)},}?${output.source}[^]*\\x1b\\[0J> `));
  const found = output.exec(chat.out().slice(from));
  if (found === null) throw new Error(`no ${String(output)}`);
  return found;
}

/** Has an account of anvil sign. */
async function sign(method: string, ...params: readonly unknown[]): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'Content-Type': 'application/json' };
  const { result } = (await (await fetch(anvil.url, { method: 'POST', headers, body })).json()) as {
    result: string;
  };
  return result;
}

describe.each(['current', 'legacy'] as const)(
  'Wallet requests in a terminal over the %s surface',
  (surface) => {
    let url: string;
    beforeEach(async () => {
      ({ url } = await place.serve());
    });

    async function open(...more: string[]): Promise<Running> {
      const flags = ['chat', '--url', url, '--surface', surface, '--wallet', wallet, ...more];
      const chat = place.startInTerminal(flags, { NO_COLOR: '1' });
      await chat.says(/Session[^]*> /);
      return chat;
    }

    it('carries a payment from words to a verdict', async () => {
      const chat = await open();
      const listed = new RegExp(
        `Waiting for your wallet:\\s+1  send 10000000000000000 wei \\(0\\.01 at 18 decimals\\) to ${friend}, chain ${String(CHAIN)}\\s+the assistant's description:\\s+“send 0\\.01 ETH to ${friend}”`,
      );
      await say(chat, `send 0.01 ETH to ${friend}`, listed);
      const [, json = ''] = await say(chat, '/tx show 1', /cast send 0x[^]*?(\{"from"[^\r\n]*\})/);
      const { from, to, value } = JSON.parse(json) as { from: string; to: string; value: string };
      const hash = await sendFrom(anvil.url, { from, to, value: BigInt(value) });
      await say(
        chat,
        `/tx done 1 ${hash}`,
        new RegExp(
          `Request 1 \\([^)]*\\) is confirmed: transaction ${hash}[^]*Request 1: confirmed\\. Transaction ${hash}`,
        ),
      );
      await say(chat, '/tx', /Nothing waits for your wallet/);
      await say(chat, `/tx done 1 ${hash}`, /No request 1 waits/);
      chat.child.stdin?.write(CTRL_D);
      expect(await chat.ended).toBe(0);
    });

    it('reports signatures and rejections, and refuses keys', async () => {
      const chat = await open();
      await say(
        chat,
        'sign this: hello',
        /Waiting for your wallet:\s+1 {2}sign a text, chain 31337\s+the assistant's description:\s+“Sign 'hello'”/,
      );
      const key = `0x${'5e'.repeat(32)}`;
      await say(chat, `/tx signed 1 ${key}`, /looks like a private key/);
      const [, hex = ''] = await say(chat, '/tx show 1', /cast wallet sign (0x[0-9a-f]+)/);
      const signature = await sign('personal_sign', hex, wallet);
      await say(chat, `/tx signed 1 ${signature}`, /is confirmed: signature 0x[^]*Request 1: confirmed/);

      const typedData = {
        types: {
          EIP712Domain: [{ name: 'chainId', type: 'uint256' }],
          Mail: [{ name: 'to', type: 'string' }],
        },
        ...{ primaryType: 'Mail', domain: { chainId: CHAIN }, message: { to: 'Bob' } },
      };
      const args = JSON.stringify({ typed_data: typedData, description: 'A mail' });
      await say(chat, `/tool request_signature ${args}`, /Waiting for your wallet:\s+2 {2}sign typed data/);
      const [, file = ''] = await say(chat, '/tx show 2', /--data --from-file '([^']+)'/);
      const signed = await sign('eth_signTypedData_v4', wallet, JSON.parse(readFileSync(file, 'utf8')));
      rmSync(dirname(file), { recursive: true });
      await say(chat, `/tx signed 2 ${signed}`, /Request 2: confirmed/);

      await say(
        chat,
        `send 1 ETH to ${friend}`,
        /Waiting for your wallet:\s+3 {2}send 1000000000000000000 wei/,
      );
      await say(chat, '/tx reject 3 too much', /were rejected|was rejected in the wallet/);
      await say(chat, '/tx', /Nothing waits for your wallet/);
      const history = readFileSync(join(place.directory, '.local/state/diptych/history'), 'utf8');
      expect(history).toContain('sign this: hello');
      expect(history).not.toContain(key);
      expect(chat.out()).not.toMatch(/private key of|enter your/i);
    });

    it('names no commands where lines are piped, but how to continue on a terminal', async () => {
      const flags = ['chat', '--url', url, '--surface', surface, '--wallet', wallet];
      const { code, err } = await place.run(flags, { input: 'sign this: hello\n' });
      expect(code).toBe(0);
      const [, session = ''] =
        /Waiting for your wallet:\n {2}1 .*\n.*description:\n.*\n.* --session (\S+)\n$/.exec(err) ?? [];
      expect(err).not.toContain('/tx');
      const chat = await open('--session', session);
      expect(chat.out()).toMatch(/Waiting for your wallet:\s+1 {2}sign a text[^]*\/tx show ID/);
    });

    it('shows what waits when a session is continued', async () => {
      const chat = await open();
      await say(chat, `send 0.02 ETH to ${friend}`, /Waiting for your wallet/);
      const [session = ''] = await say(chat, '/session', /[\da-f]{8}-[\da-f-]{27}/);
      chat.child.stdin?.write(CTRL_D);
      await chat.ended;
      const again = await open('--session', session);
      expect(again.out()).toMatch(/Waiting for your wallet:\s+1 {2}send 20000000000000000 wei \(0\.02 at/);
    });
  },
);
