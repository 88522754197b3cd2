import type { Request } from 'express';

/** What shows that a wallet is the caller's, where that is asked for; the core alone judges it. */
export function walletProofOf(req: Request): string | undefined {
  return req.get('x-wallet-proof');
}
