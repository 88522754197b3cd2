import { afterAll, beforeAll } from '@jest/globals';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { TestWallet } from './wallet-browser.js';

const CHAIN = 31_337;

/** Runs a chain for the tests of a file. */
export function useChain() {
  const nodes = new Map<number, string>();
  let anvil: Anvil;
  beforeAll(async () => {
    anvil = await startAnvil(CHAIN);
    nodes.set(CHAIN, anvil.url);
  });
  afterAll(() => anvil.close());
  const addressOf = (account: number): string => anvil.accounts[account] ?? '';
  return {
    /** The URL of the chain's node, by its id. */
    nodes: nodes as ReadonlyMap<number, string>,
    addressOf,
    /** Returns a wallet with one of the accounts. */
    walletOf: (name: string, account: number) => new TestWallet(name, nodes, [addressOf(account)]),
  };
}
