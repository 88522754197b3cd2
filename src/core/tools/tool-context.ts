import type { Secrets } from '../access/secrets.js';
import type { WalletOwners } from '../access/wallet-owners.js';
import type { App } from '../model/app.js';
import { addressOf, type Session } from '../model/session.js';
import { flatUserState } from '../model/user-state.js';
import type { ToolContext } from '../ports/tool.js';

/**
 * Returns the address that the tools of a session act for: the session's wallet, else the connected one. Where wallets
 * have to sign in, a wallet that the client merely claims to be connected is ignored.
 */
export function actingWallet(
  walletOwners: WalletOwners,
  { wallet, userState }: Pick<Session, 'wallet' | 'userState'>,
): string | null {
  if (wallet !== null) return addressOf(wallet);
  return walletOwners.areRequired ? null : flatUserState(userState).address;
}

/**
 * Builds the context of a tool call: the wallet, and the secrets that the client has stored for the App.
 * @param call.callId identifies the call in its session
 */
export async function toolContext(
  { secrets, walletOwners }: { readonly secrets: Secrets; readonly walletOwners: WalletOwners },
  session: Session,
  call: Pick<ToolContext, 'callId' | 'turn' | 'signal'> & {
    readonly app: App;
    readonly client: string | null;
  },
): Promise<Omit<ToolContext, 'progress'>> {
  const { app, client, signal, callId, turn } = call;
  return {
    ...{ sessionId: session.id, callId, turn, app: app.name },
    wallet: actingWallet(walletOwners, session),
    userState: session.userState,
    secrets: await secrets.open(client, app),
    signal,
  };
}
