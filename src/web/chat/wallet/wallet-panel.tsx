import { useEffect, type ReactNode } from 'react';
import { useObservable } from '../../parts/observable.js';
import type { Conversation } from '../conversation/conversation.js';
import { chainName } from './chains.js';
import type { Connected, WalletConnection } from './connection.js';
import type { FoundWallet } from './discovery.js';
import type { Wallets } from './wallets.js';

/** Connects a wallet of this browser, and signs in with it where the service requires it. */
export function WalletPanel(props: {
  readonly wallets: Wallets;
  readonly conversation: Conversation;
}): ReactNode {
  const { wallets, conversation } = props;
  const { connection } = wallets;
  const { connected, problem } = useObservable(connection);
  return (
    <div className="wallet-panel" role="group" aria-label="Browser wallet">
      {connected === null ? (
        <WalletChoice connection={connection} />
      ) : (
        <>
          <p className="wallet-account">
            <WalletIcon wallet={connected.wallet} />
            <span>
              <strong>{connected.wallet.name}</strong>
              <span className="wallet-where">
                <code>{connected.account}</code>{' '}
                {connected.chainId === null ? 'on an unknown chain' : chainName(connected.chainId)}
              </span>
            </span>
            <button
              type="button"
              className="button small"
              onClick={() => {
                connection.disconnect();
              }}
            >
              Disconnect
            </button>
          </p>
          <SignInPrompt {...{ wallets, conversation, connected }} />
        </>
      )}
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

/** A button for each wallet that was found. */
export function WalletChoice({ connection }: { readonly connection: WalletConnection }): ReactNode {
  const found = useObservable(connection.discovery);
  const { asked } = useObservable(connection);
  if (found.length === 0) return <p className="hint">This browser has no wallet.</p>;
  return (
    <ul className="wallet-choice" aria-label="Wallets of this browser">
      {found.map((wallet) => (
        <li key={wallet.id}>
          <button
            type="button"
            className="button small wide"
            disabled={asked === wallet}
            onClick={() => void connection.connect(wallet)}
          >
            <WalletIcon wallet={wallet} />
            {asked === wallet ? `Answer in ${wallet.name}` : `Connect ${wallet.name}`}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Offers to sign in once the service has asked for a proof. */
function SignInPrompt(props: {
  readonly wallets: Wallets;
  readonly conversation: Conversation;
  readonly connected: Connected;
}): ReactNode {
  const { signIn } = props.wallets;
  const { keeper } = props.conversation;
  const { isAsking, problem } = useObservable(signIn);
  const { account } = props.connected;
  // An error belongs to the account that it happened with.
  useEffect(() => {
    signIn.forgetProblem();
  }, [signIn, account]);
  if (!signIn.lacks(account) || keeper === null) return null;
  return (
    <>
      <p className="hint">This service asks wallets to sign in before it lists their threads.</p>
      <button
        type="button"
        className="button primary small"
        disabled={isAsking}
        onClick={() => void signIn.signIn(props.connected, keeper)}
      >
        {isAsking ? 'Answer in the wallet' : 'Sign in'}
      </button>
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </>
  );
}

/** The icon of a wallet. As an image it cannot run scripts. */
function WalletIcon({ wallet: { icon } }: { readonly wallet: FoundWallet }): ReactNode {
  return icon === null ? null : <img className="wallet-icon" src={icon} alt="" width="18" height="18" />;
}
