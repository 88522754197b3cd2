import { memo, useRef, type ReactNode } from 'react';
import type { AppDetails } from '../../../client/types.js';
import { useObservable } from '../../parts/observable.js';
import { Icon } from '../../parts/icon.js';
import { ThemeToggle } from '../../parts/theme.js';
import type { Conversation } from '../conversation/conversation.js';
import type { Drafts } from '../conversation/drafts.js';
import { Field } from './field.js';
import type { Listed } from './apps.js';
import type { PageSetup } from '../page-setup.js';
import type { Settings } from '../settings.js';
import { Section } from './section.js';
import { Setup } from './setup.js';
import { ThreadList } from './thread-list.js';
import type { KeptThreads } from '../threads/kept-threads.js';
import { checksummed } from '../wallet/address.js';
import { WalletPanel } from '../wallet/wallet-panel.js';
import type { Wallets } from '../wallet/wallets.js';

/** The threads, the wallet, and the assistant's settings. It is not rendered again while a reply streams. */
export const Sidebar = memo(function Sidebar(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly setup: PageSetup;
  readonly apps: Listed<AppDetails>;
  readonly drafts: Drafts;
  readonly threads: KeptThreads;
  readonly wallets: Wallets;
  readonly onChange: (some: Partial<Settings>) => void;
  readonly onOpen: () => void;
  readonly onDeleted: () => void;
}): ReactNode {
  const { conversation, settings, setup, apps, drafts, threads, wallets, onChange, onOpen, onDeleted } =
    props;
  const { wallet, walletUse } = settings;
  const { signIn } = wallets;
  useObservable(signIn);
  const newThread = useRef<HTMLButtonElement>(null);
  const open = (id: string): void => {
    onChange({ sessionId: id });
    onOpen();
  };
  return (
    <>
      <div className="brand">
        <img src={setup.logo} alt="" height="24" />
        <strong>{setup.title}</strong>
        <ThemeToggle />
      </div>
      <button
        ref={newThread}
        type="button"
        className="button primary wide"
        onClick={() => {
          open(drafts.newThread(settings.sessionId));
        }}
      >
        <Icon name="plus" />
        New thread
      </button>
      <ThreadList
        {...{ conversation, settings, drafts, threads, wallets, onChange }}
        onOpen={open}
        onRemoved={() => {
          // The button that had the focus is gone.
          newThread.current?.focus();
          onDeleted();
        }}
      />
      <div className="sections">
        <Section
          name="wallet"
          heading="Wallet"
          summary={wallet === '' ? 'none' : checksummed(wallet)}
          isNeeded={signIn.lacks(wallet)}
        >
          <WalletPanel {...{ wallets, conversation }} />
          <Field
            label="Wallet address"
            value={wallet}
            placeholder="0x…"
            onCommit={(value) => {
              onChange({ wallet: value });
            }}
          />
          {wallet === '' && (
            <p className="hint">With a wallet address, its threads are found again on any device.</p>
          )}
          {wallet !== '' && walletUse === 'without' && (
            <>
              <p className="hint">You opened this thread by a link: your wallet is not used in it.</p>
              <button
                type="button"
                className="button small"
                onClick={() => {
                  onChange({ walletUse: 'own' });
                }}
              >
                Use my wallet in this thread
              </button>
            </>
          )}
        </Section>
        <Setup {...{ conversation, settings, apps, onChange }} />
      </div>
    </>
  );
});
