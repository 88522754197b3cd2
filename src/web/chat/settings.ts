import type { SurfaceName } from '../../client/types.js';
import { randomId } from '../../client/random-id.js';
import { Observable } from '../parts/observable.js';
import { readStored, store } from '../parts/storage.js';
import type { Drafts } from './conversation/drafts.js';
import type { KeptThreads, WalletUse } from './threads/kept-threads.js';
import { UUID } from './threads/uuid.js';

/** The user's settings. */
export interface Settings {
  readonly surface: SurfaceName;
  /** A UUID. */
  readonly sessionId: string;
  /** Whether the wallet is used in this session. */
  readonly walletUse: WalletUse;
  readonly app: string;
  /** The App key; empty: none. */
  readonly key: string;
  /** A wallet address; empty: none. */
  readonly wallet: string;
  /** The id under which this browser has stored secrets; empty: none. */
  readonly clientId: string;
}

type Address = Pick<Settings, 'sessionId' | 'surface'>;

const APP = 'diptych.app';
const WALLET = 'diptych.wallet';
const KEY = 'diptych.key';
const CLIENT = 'diptych.client';

/**
 * Stores the settings: session and surface in the URL, App, wallet and client id in `localStorage`, and the App key in
 * `sessionStorage`. Without a session in the URL, resumes the thread that was opened last.
 */
export class SettingsStore extends Observable<Settings> {
  constructor(
    private readonly threads: KeptThreads,
    drafts: Drafts,
  ) {
    const address = readAddress(location.hash);
    const sessionId = address.sessionId ?? threads.last()?.sessionId ?? drafts.newThread(null);
    const isLink = address.sessionId !== null;
    super({
      ...{ surface: address.surface, sessionId, walletUse: walletUseOf(threads, sessionId, isLink) },
      app: readStored('browser', APP) ?? 'default',
      key: readStored('tab', KEY) ?? '',
      wallet: readStored('browser', WALLET) ?? '',
      clientId: readStored('browser', CLIENT) ?? '',
    });
    showAddress(this.get(), 'replace');
    addEventListener('storage', ({ key }) => {
      if (key === CLIENT) super.set({ ...this.get(), clientId: readStored('browser', CLIENT) ?? '' });
    });
    addEventListener('hashchange', () => {
      const { surface, sessionId: id } = readAddress(location.hash, this.get().surface);
      const next = id ?? drafts.newThread(this.get().sessionId);
      super.set({
        ...this.get(),
        surface,
        sessionId: next,
        walletUse: walletUseOf(threads, next, id !== null),
      });
      showAddress(this.get(), 'replace');
    });
  }

  /** Changes some settings. Another session is opened as one of this browser, not as one of a link. */
  change(some: Partial<Settings>, how: 'push' | 'replace' = 'push'): void {
    const before = this.get();
    const isOther = some.sessionId !== undefined && some.sessionId !== before.sessionId;
    const walletUse = isOther ? walletUseOf(this.threads, some.sessionId, false) : before.walletUse;
    const after = { ...before, walletUse, ...some };
    // Nothing else is stored: another tab may have changed it.
    if (some.app !== undefined) store('browser', APP, some.app === 'default' ? '' : some.app);
    if (some.wallet !== undefined) store('browser', WALLET, some.wallet);
    if (some.key !== undefined) store('tab', KEY, some.key);
    if (some.clientId !== undefined) store('browser', CLIENT, some.clientId);
    showAddress(after, isOther ? how : 'replace');
    super.set(after);
  }
}

/**
 * Returns the client id that this browser has, or makes one. It is stored before it is used, so that another tab does
 * not make a second one.
 * @param known of the settings; empty: none
 */
export function claimClientId(known: string): string {
  const id = readStored('browser', CLIENT) ?? (known || randomId());
  store('browser', CLIENT, id);
  return id;
}

/** Reads `#session=…&surface=…`. The session is null if it is missing or invalid. */
export function readAddress(
  hash: string,
  byDefault: SurfaceName = 'current',
): { readonly sessionId: string | null; readonly surface: SurfaceName } {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const session = fields.get('session') ?? '';
  const surface = fields.get('surface');
  return {
    sessionId: UUID.test(session) ? session.toLowerCase() : null,
    surface: surface === 'current' || surface === 'legacy' ? surface : byDefault,
  };
}

/** Returns the URL fragment that names a session and its surface. */
export function addressOf({ sessionId, surface }: Address): string {
  return `#session=${sessionId}&surface=${surface}`;
}

/** Shows session and surface in the URL. The entry of the history knows what a link to it cannot claim. */
function showAddress(settings: Address & Pick<Settings, 'walletUse'>, how: 'push' | 'replace'): void {
  const entry = { walletUse: settings.walletUse };
  if (how === 'push') history.pushState(entry, '', addressOf(settings));
  else history.replaceState(entry, '', addressOf(settings));
}

/** Returns what the person has decided for a session; a link alone decides nothing. */
function walletUseOf(threads: KeptThreads, sessionId: string, isLink: boolean): WalletUse {
  const kept = threads.find(sessionId)?.walletUse;
  if (kept !== undefined) return kept;
  if (!isLink) return 'own';
  const entry: unknown = history.state;
  const use =
    typeof entry === 'object' && entry !== null && 'walletUse' in entry ? entry.walletUse : undefined;
  return use === 'own' || use === 'without' ? use : 'ask';
}
