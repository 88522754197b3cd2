import type { ReactNode } from 'react';
import { focusInput } from '../thread/composer.js';
import type { WalletUse } from '../threads/kept-threads.js';

/** Says that the open thread came by a link, and asks before the person's wallet is used in it. */
export function LinkNotice(props: {
  readonly walletUse: WalletUse;
  readonly hasWallet: boolean;
  readonly onDecide: (use: WalletUse) => void;
}): ReactNode {
  const { walletUse, hasWallet, onDecide } = props;
  if (walletUse !== 'ask') return null;
  return (
    <section className="notice" aria-label="Opened by a link">
      <p>
        <strong>You opened this thread by a link.</strong> Everyone who has the link reads along and can write
        in it.
        {hasWallet && ' Your wallet is not used here unless you say so.'}
      </p>
      <div className="notice-actions">
        {hasWallet && (
          <button
            type="button"
            className="button small"
            onClick={(event) => {
              onDecide('own');
              focusInput(event);
            }}
          >
            Use my wallet here
          </button>
        )}
        <button
          type="button"
          className="button small"
          onClick={(event) => {
            onDecide('without');
            focusInput(event);
          }}
        >
          {hasWallet ? 'Continue without it' : 'Got it'}
        </button>
      </div>
    </section>
  );
}
