import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  getAddress,
  http,
  type Address,
  type Hash,
  type TransactionReceipt,
} from 'viem';
import { foundry } from 'viem/chains';
import type { Artefact } from './contracts.js';

/** A real EVM node on loopback, with funded accounts that need no keys. Every transaction is mined at once. */
export interface Anvil {
  readonly url: string;
  /** Checksummed; each begins with 10,000 ETH. */
  readonly accounts: readonly Address[];
  /** Deploys from the first account. */
  deploy(contract: Artefact, args?: readonly unknown[]): Promise<Address>;
  /** Sends a call from the first account. */
  write(
    address: Address,
    contract: Artefact,
    name: string,
    args: readonly unknown[],
  ): Promise<TransactionReceipt>;
  /** Sends ether from the first account. */
  send(to: Address, wei: bigint): Promise<TransactionReceipt>;
  /** Sends ether that stays pending until `mine`. */
  sendPending(to: Address, wei: bigint): Promise<Hash>;
  mine(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a node with a chain id on a free port.
 * @param count how many accounts
 */
export async function startAnvil(chainId: number, count = 10): Promise<Anvil> {
  const args = ['--port', '0', '--host', '127.0.0.1', '--chain-id', String(chainId)];
  const child = spawn(binary(), [...args, '--accounts', String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`anvil ended with ${String(code)}`));
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const options = { chain: { ...foundry, id: chainId }, transport: http(url), pollingInterval: 20 };
  const reader = createPublicClient(options);
  const tester = createTestClient({ ...options, mode: 'anvil' });
  const accounts = await createWalletClient(options).getAddresses();
  const [first] = accounts;
  if (first === undefined) throw new Error('anvil has no accounts');
  const wallet = createWalletClient({ ...options, account: first });
  const mined = (hash: Hash): Promise<TransactionReceipt> => reader.waitForTransactionReceipt({ hash });

  return {
    url,
    accounts,
    async deploy({ abi, bytecode }, args = []) {
      const { contractAddress } = await mined(await wallet.deployContract({ abi, bytecode, args }));
      if (contractAddress === null || contractAddress === undefined) throw new Error('nothing was deployed');
      return getAddress(contractAddress);
    },
    write: async (address, { abi }, functionName, args) =>
      mined(await wallet.writeContract({ address, abi, functionName, args })),
    send: async (to, value) => mined(await wallet.sendTransaction({ to, value })),
    async sendPending(to, value) {
      await tester.setAutomine(false);
      return wallet.sendTransaction({ to, value });
    },
    async mine() {
      await tester.mine({ blocks: 1 });
      await tester.setAutomine(true);
    },
    async close() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** The binary itself and not the package's script, so that ending the process ends the node. */
function binary(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const folder = `../../node_modules/@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`;
  return fileURLToPath(new URL(folder, import.meta.url));
}
