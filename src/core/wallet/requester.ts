import type { App } from '../model/app.js';
import { isEvmAddress } from '../model/session.js';
import type { WalletPolicy } from '../model/wallet-request.js';
import type { ToolContext } from '../ports/tool.js';

/** Who makes a request: an App, for the wallet of a session. */
export interface Requester {
  readonly app: string;
  readonly policy: WalletPolicy;
  /** A lower-case address. */
  readonly wallet: string;
}

/** @throws Error in words for the assistant when the App may not ask wallets, or the session has none */
export function requesterOf(
  apps: ReadonlyMap<string, App>,
  { app, wallet }: Pick<ToolContext, 'app' | 'wallet'>,
): Requester {
  const policy = apps.get(app)?.wallet ?? null;
  if (policy === null) throw new Error('This App does not ask wallets');
  if (!isEvmAddress(wallet))
    throw new Error('No wallet with an EVM address is connected: the person has to connect one first');
  return { app, policy, wallet: wallet.toLowerCase() };
}
