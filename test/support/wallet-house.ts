import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { createPublicClient, http, type Hash } from 'viem';
import { createChains } from '../../src/adapters/tools/evm/requests/create-chains.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import { resultText } from '../../src/core/model/message.js';
import type { WalletPolicy } from '../../src/core/model/wallet-request.js';
import type { Chains } from '../../src/core/ports/chains.js';
import type { RigRequest } from '../../src/core/ports/rig.js';
import type { Store } from '../../src/core/ports/store.js';
import type { ScriptedRig } from './scripted-rig.js';
import { createMemoryStore } from './memory-store/store.js';
import { objectOf, type House } from './house.js';
import type { Answer } from './http.js';
import type { testDatabase } from './postgres.js';
import { openTestSqlite } from './sqlite.js';

export const CHAIN = 31_337;

/** A policy without limits. */
export const ANY: WalletPolicy = { chains: null, recipients: null, maxValue: null, maxDailyValue: null };

/** The chains of a node of anvil. */
export function chainsAt(url: string): Chains {
  const fee = { recipient: `0x${'Fe'.repeat(20)}`.toLowerCase(), amountWei: '1' };
  return createChains({ chains: [{ id: CHAIN, name: 'Local', rpcUrls: [url], fee }] });
}

/** A store that can be closed and opened again with its data, of the kind that `TEST_STORE` names. */
export interface LastingStore {
  open(): Promise<Store>;
  remove(): void;
}

/** @param database where PostgreSQL stores are */
export async function lastingStore(database: ReturnType<typeof testDatabase>): Promise<LastingStore> {
  const kind = process.env.TEST_STORE ?? 'sqlite';
  if (kind === 'memory') {
    const store = { ...createMemoryStore(), close: () => Promise.resolve() };
    return { open: () => Promise.resolve(store), remove: () => undefined };
  }
  if (kind === 'postgres') {
    const url = await database.newUrl();
    return { open: () => database.open({ url }), remove: () => undefined };
  }
  const folder = mkdtempSync(join(tmpdir(), 'diptych-wallet-'));
  return {
    open: () => openTestSqlite({ path: join(folder, 'data.db') }),
    remove() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The result of the last tool call in a model request. */
export function lastResult({ messages }: RigRequest): JsonValue {
  const last = messages.at(-1);
  const result = last?.role === 'assistant' ? last.toolResults.at(-1)?.result : undefined;
  if (result === undefined) throw new Error('the request ends with no tool result');
  return result;
}

/** A session of a person with a wallet, and of a model that the test plays. */
export class WalletSession {
  constructor(
    readonly house: Pick<House, 'ask' | 'watch'>,
    private readonly rig: ScriptedRig,
    readonly wallet: string,
    readonly id: string = randomUUID(),
  ) {}

  ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.house.ask(method, path, {
      ...{ session: this.id, headers },
      ...(body !== undefined && { body }),
    });
  }

  /** Binds the wallet. */
  async begin(): Promise<this> {
    await this.ask('POST', '/current/api/sessions', { public_key: this.wallet });
    return this;
  }

  /** Resolves once the thread has its title, which is stored after the end of its first turn. */
  async titled(): Promise<void> {
    const stream = await this.house.watch('/current/api/updates?since=0', this.id);
    await stream.until(({ bytes }) => bytes.includes('"type":"title_changed"'));
    stream.close();
  }

  async state(): Promise<JsonObject> {
    return objectOf((await this.ask('GET', '/current/api/state')).json);
  }

  /** Sends a message, and resolves with the snapshot at the end of its turn. */
  async say(text: string): Promise<JsonObject> {
    const path = `/current/api/chat?message=${encodeURIComponent(text)}`;
    const { json } = await this.ask('POST', path, undefined, { Prefer: 'wait=60' });
    return objectOf(json);
  }

  /** Lets the model call one tool, and returns the result that it gets. */
  async call(name: string, args: JsonObject): Promise<JsonValue> {
    const ended = this.say(`call ${name}`);
    (await this.rig.next()).call(randomUUID(), name, args).end();
    const next = await this.rig.next();
    next.text('Done.').end();
    await ended;
    return lastResult(next.request);
  }

  /** Lets the model stage a transaction; returns its id. */
  async stage(transaction: JsonObject): Promise<number> {
    const { id } = objectOf(await this.call('stage_transaction', transaction));
    if (typeof id !== 'number') throw new Error('nothing was staged');
    return id;
  }

  /**
   * Lets the model stage a transaction and request it in one turn.
   * @returns the id, and the snapshot at the end of the turn
   */
  async request(transaction: JsonObject): Promise<{ readonly id: number; readonly snapshot: JsonObject }> {
    const ended = this.say('Pay');
    (await this.rig.next()).call(randomUUID(), 'stage_transaction', transaction).end();
    const staged = await this.rig.next();
    const { id } = objectOf(lastResult(staged.request));
    if (typeof id !== 'number')
      throw new Error(`nothing was staged: ${JSON.stringify(lastResult(staged.request))}`);
    staged.call(randomUUID(), 'request_transactions', { ids: [id] }).end();
    (await this.rig.next()).text('Please approve.').end();
    return { id, snapshot: await ended };
  }

  /** Reports through `POST /api/system`. */
  report(type: string, payload: JsonObject): Promise<Answer> {
    return this.ask('POST', '/current/api/system', { message: JSON.stringify({ type, payload }) });
  }

  /** Reports the outcome of transactions. */
  complete(ids: readonly JsonValue[], outcome: JsonObject): Promise<Answer> {
    return this.report('wallet:tx_complete', { ...outcome, pending_tx_ids: ids });
  }

  /** Answers the turn in which the model learns an outcome; returns the words that it reads. */
  async learn(): Promise<string> {
    const asked = await this.rig.next();
    const last = asked.request.messages.at(-1);
    if (last?.role !== 'assistant' || last.toolResults[0]?.name !== 'wallet_report')
      throw new Error(`the request ends with ${JSON.stringify(last)}`);
    asked.text('I see.').end();
    return resultText(last.toolResults[0].result);
  }
}

/** Sends a transaction from an account of anvil, as a wallet does, whatever it will do; resolves once it is mined. */
export async function sendFrom(
  url: string,
  transaction: Readonly<Record<'from' | 'to', string>> & {
    readonly value?: bigint;
    readonly data?: string;
    readonly gas?: number;
  },
): Promise<Hash> {
  const { from, to, value = 0n, data = '0x', gas = 200_000 } = transaction;
  const params = [{ from, to, value: `0x${value.toString(16)}`, data, gas: `0x${gas.toString(16)}` }];
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params });
  const { result } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
    result?: Hash;
  };
  if (result === undefined) throw new Error('the node refused the transaction');
  await createPublicClient({ transport: http(url), pollingInterval: 20 }).waitForTransactionReceipt({
    hash: result,
  });
  return result;
}
