import type { Request } from 'express';

/** Returns the proof that the caller owns a wallet. Only the core checks it. */
export function walletProofOf(req: Request): string | undefined {
  return req.get('x-wallet-proof');
}
