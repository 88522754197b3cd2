import type { Secrets } from '../access/secrets.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { App } from '../model/app.js';
import { addressOf, type Session } from '../model/session.js';
import { flatUserState } from '../model/user-state.js';
import type { ToolContext } from '../ports/tool.js';

/**
 * Builds the context of a tool call: the session's wallet, else the connected one, and the secrets that the client has
 * stored for the App. Where wallets have to sign in, a wallet that the client merely claims to be connected is ignored.
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
