import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startAnvil } from '../../support/anvil.js';
import { portOf } from '../../support/answering.js';
import { Random } from '../random.js';
import { sleep } from '../world.js';

export const BANK_CHAIN = 4242;

/** A plain transfer. Addresses are in lower case, the value is in wei. */
export interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
}

/** A transfer that a wallet really sent. */
export interface SentTransfer extends Transfer {
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly sentAt: number;
}

/**
 * A real chain of wallets, which mines every second. The services reach it by a node that at times is slow, fails or
 * breaks off; the wallets reach it directly.
 */
export interface Bank {
  /** The address of the unreliable node. */
  readonly url: string;
  readonly host: string;
  /** In lower case. They need no keys. */
  readonly accounts: readonly string[];
  /** Sends a transfer as a wallet does. Resolves with the hash, before it is mined. */
  send(transfer: Transfer): Promise<string>;
  /** Every transfer that was sent, in order. */
  readonly sent: readonly SentTransfer[];
  /** From now on the node answers at once and without faults. */
  calmDown(): void;
  close(): Promise<void>;
}

const Sent = z.object({ result: z.string().regex(/^0x[0-9a-f]{64}$/) });
const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** Those who are paid, after the accounts of those who pay. */
const PAYEES = 2;

/** @param payers how many people have an account to pay from: those from index 1 on */
export async function startBank(seed: string, payers: number): Promise<Bank> {
  const anvil = await startAnvil(BANK_CHAIN, 1 + payers + PAYEES);
  const random = new Random(seed, 'bank');
  const sent: SentTransfer[] = [];
  let isCalm = false;
  /** Settles when no transfer is being sent. */
  let last: Promise<unknown> = Promise.resolve();

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await fetch(anvil.url, { method: 'POST', headers: JSON_HEADERS, body })).json();
  }

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await text(req);
    const trouble = isCalm ? 'none' : random.weigh([['none', 84], ['slow', 8], ['fail', 4], ['drop', 4]], 'none'); // prettier-ignore
    if (trouble === 'slow') await sleep(random.between(200, 1_500));
    if (trouble === 'drop') {
      res.destroy();
      return;
    }
    if (trouble === 'fail') {
      res.writeHead(503).end();
      return;
    }
    const answer = await fetch(anvil.url, { method: 'POST', headers: JSON_HEADERS, body });
    res.writeHead(200, JSON_HEADERS).end(await answer.text());
  }

  async function sendNow({ from, to, value }: Transfer): Promise<string> {
    const params = [{ from, to, value: `0x${value.toString(16)}`, gas: '0x5208' }];
    const response = await call('eth_sendTransaction', params);
    const { success, data } = Sent.safeParse(response);
    if (!success) throw new Error(`the chain refused a transfer: ${JSON.stringify(response)}`);
    sent.push({ from, to, value, hash: data.result, sentAt: Date.now() });
    return data.result;
  }

  await call('evm_setIntervalMining', [1]);
  const server = createServer((req, res) => {
    res.on('error', () => undefined);
    serve(req, res).catch(() => res.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${String(portOf(server))}`;

  return {
    url: `http://${host}`,
    host,
    accounts: anvil.accounts.map((account) => account.toLowerCase()),
    sent,
    send(transfer) {
      // One at a time: the node gives two transfers that come at once the same nonce, and refuses one of them.
      const sending = last.then(() => sendNow(transfer));
      last = sending.catch(() => undefined);
      return sending;
    },
    calmDown() {
      isCalm = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await anvil.close();
    },
  };
}
