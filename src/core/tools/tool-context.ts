import type { Secrets } from '../access/secrets.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { App } from '../model/app.js';
import { addressOf, type Session } from '../model/session.js';
import { flatUserState } from '../model/user-state.js';
import type { ToolContext } from '../ports/tool.js';

/**
 * What a call may know and use: the bound wallet, else the connected one, and the secrets that its client has stored
 * for the App. Where wallets have to sign in, one that a client only says to be connected is not given for the
 * session's.
 */
export async function toolContext(
  { secrets, walletOwners }: { readonly secrets: Secrets; readonly walletOwners: WalletOwners },
  { id, wallet, userState }: Session,
  { app, client, signal }: { app: App; client: string | null; signal: AbortSignal },
): Promise<Omit<ToolContext, 'progress'>> {
  const connected = walletOwners.areRequired ? null : flatUserState(userState).address;
  return {
    sessionId: id,
    wallet: wallet === null ? connected : addressOf(wallet),
    userState,
    secrets: await secrets.open(client, app.name),
    signal,
  };
}
