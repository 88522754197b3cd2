import { useEffect, useState } from 'react';
import { isObject, textField } from '../objects.js';
import { callWallet, type Provider } from '../provider.js';

/** How often a wallet is asked whether its transaction is mined, and for how long, in milliseconds. */
const INTERVAL_MS = 2_000;
const PATIENCE_MS = 15 * 60_000;

/** Where a transaction is, by the wallet's own chain. */
export interface Mined {
  readonly block: string;
  readonly succeeded: boolean;
}

/**
 * Follows a transaction by the wallet until it is mined; null: not yet.
 * @param provider null: do not ask
 */
export function useMined(provider: Provider | null, hash: string): Mined | null {
  const [mined, setMined] = useState<Mined | null>(null);
  useEffect(() => {
    if (provider === null || mined !== null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const until = Date.now() + PATIENCE_MS;
    const look = async (): Promise<void> => {
      // The service verifies the transaction by itself, so an error here means nothing.
      const receipt = await callWallet(provider, 'eth_getTransactionReceipt', [hash]).catch(() => null);
      if (isOver) return;
      const found = readReceipt(receipt);
      if (found !== null) setMined(found);
      else if (Date.now() < until) timer = setTimeout(() => void look(), INTERVAL_MS);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [provider, hash, mined]);
  return mined;
}

function readReceipt(receipt: unknown): Mined | null {
  if (!isObject(receipt)) return null;
  const block = textField(receipt, 'blockNumber');
  if (!/^0x[0-9a-f]{1,16}$/i.test(block)) return null;
  return { block: String(BigInt(block)), succeeded: textField(receipt, 'status') === '0x1' };
}
