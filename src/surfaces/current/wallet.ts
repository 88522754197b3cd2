import { handle, input } from '../../http/validation/input.js';
import type { Route } from '../../http/routing/route.js';
import type { WalletApi } from '../../core/api.js';
import { endpoint } from './endpoint.js';
import { proveWallet } from './input.js';

/** The routes for wallets to sign in (EIP-4361). Both respond with 404 unless the service requires it. */
export function walletRoutes(core: WalletApi): readonly Route[] {
  return [
    endpoint(
      'GET',
      '/api/wallet/nonce',
      handle(input('ignored', {}), (_asked, _req, res) => {
        const { nonce, expiresAt } = core.walletChallenge();
        res.json({ nonce, expires_at: new Date(expiresAt).toISOString() });
      }),
    ),
    endpoint(
      'POST',
      '/api/wallet/proof',
      handle(proveWallet, async (asked, _req, res) => {
        const { proof, wallet, expiresAt } = await core.proveWallet(asked);
        res.json({ proof, public_key: wallet, expires_at: new Date(expiresAt).toISOString() });
      }),
    ),
  ];
}
