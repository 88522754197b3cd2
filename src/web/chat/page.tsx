import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useObservable } from '../parts/observable.js';
import { Conversation, type Surroundings } from './conversation/conversation.js';
import type { Drafts } from './conversation/drafts.js';
import { Desk } from './desk.js';
import { serviceBase, useSurfaces } from './service.js';
import type { Settings, SettingsStore } from './settings.js';
import { usePageSetup } from './page-setup.js';
import type { KeptThreads } from './threads/kept-threads.js';
import type { Traffic } from './conversation/traffic.js';
import { isSameAddress } from './wallet/address.js';
import { requestService, type Wallets } from './wallet/wallets.js';

/** The page at `/`: one conversation at a time, on either surface. */
export function Page(props: {
  readonly settings: SettingsStore;
  readonly drafts: Drafts;
  readonly threads: KeptThreads;
  readonly traffic: Traffic;
  readonly wallets: Wallets;
}): ReactNode {
  const { settings: store, drafts, threads, traffic, wallets } = props;
  const settings = useObservable(store);
  const [base] = useState(serviceBase);
  const surfaces = useSurfaces(base);
  const setup = usePageSetup(base);
  const [only] = surfaces ?? [];
  const isExposed = surfaces?.includes(settings.surface) ?? false;
  useEffect(() => {
    if (only !== undefined && !isExposed) store.change({ surface: only });
  }, [only, isExposed, store]);
  const hasHistory = surfaces?.includes('current') ?? false;
  const walletProof = useCallback(() => wallets.signIn.proofOf(store.get().wallet), [wallets, store]);
  const open = useConversation(isExposed ? settings : null, { base, hasHistory, walletProof }, traffic);
  useEffect(
    () => (hasHistory ? wallets.desk.start(requestService(base, traffic.addExchange)) : undefined),
    [hasHistory, wallets, base, traffic],
  );
  useAccount(wallets, store);
  const change = useCallback(
    (some: Partial<Settings>, how?: 'push' | 'replace') => {
      store.change(some, how);
    },
    [store],
  );
  if (open === null || surfaces === null || setup === null)
    return <p className="waiting">Connecting to the service…</p>;
  return <Desk {...{ ...open, setup, surfaces, drafts, threads, traffic, wallets }} onChange={change} />;
}

/**
 * Returns the open conversation, and creates a new one when the settings name another. Until that is open, the settings
 * are those of the old one: the permission to use the wallet in one thread must not be stored for another.
 */
function useConversation(
  settings: Settings | null,
  around: Pick<Surroundings, 'base' | 'hasHistory' | 'walletProof'>,
  traffic: Traffic,
): { readonly conversation: Conversation; readonly settings: Settings } | null {
  const [open, setOpen] = useState<{ readonly conversation: Conversation; readonly identity: string } | null>(
    null,
  );
  const shown = useRef<Settings | null>(null);
  const { base, hasHistory, walletProof } = around;
  const identity =
    settings === null
      ? ''
      : JSON.stringify([
          ...[settings.surface, settings.sessionId, settings.app, settings.key],
          settings.walletUse === 'own' ? settings.clientId : '',
        ]);
  useEffect(() => {
    if (settings === null) return;
    const { addExchange, addEvent } = traffic;
    const next = new Conversation(settings, {
      ...{ base, hasHistory, walletProof, onExchange: addExchange, onWireEvent: addEvent },
    });
    next.start();
    setOpen({ conversation: next, identity });
    return () => {
      next.close();
    };
    // A change of the wallet does not start a new conversation.
  }, [identity, base, hasHistory, walletProof, traffic]);
  if (open?.identity === identity) shown.current = settings;
  if (open === null || shown.current === null) return null;
  return { conversation: open.conversation, settings: shown.current };
}

/** Takes the account of the connected wallet as the wallet of the settings, whenever it changes. */
function useAccount(wallets: Wallets, store: SettingsStore): void {
  const { connected } = useObservable(wallets.connection);
  const account = connected?.account ?? null;
  const before = useRef<string | null>(null);
  useEffect(() => {
    const last = before.current;
    before.current = account;
    if (account !== null) store.change({ wallet: account });
    else if (isSameAddress(last, store.get().wallet)) store.change({ wallet: '' });
  }, [account, store]);
}
