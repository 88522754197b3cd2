import type { SurfaceName } from '../../client/types.js';
import { randomId } from '../../client/random-id.js';
import { Observable } from '../parts/observable.js';

/** The user's settings. */
export interface Settings {
  readonly surface: SurfaceName;
  /** A UUID. */
  readonly sessionId: string;
  readonly app: string;
  /** The App key; empty: none. */
  readonly key: string;
  /** A wallet address; empty: none. */
  readonly wallet: string;
}

const APP = 'diptych.app';
const WALLET = 'diptych.wallet';
const KEY = 'diptych.key';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Stores the settings: session and surface in the URL, App and wallet in `localStorage`, and the App key in
 * `sessionStorage`.
 */
export class SettingsStore extends Observable<Settings> {
  constructor() {
    super({
      ...readAddress(location.hash),
      app: localStorage.getItem(APP) ?? 'default',
      key: sessionStorage.getItem(KEY) ?? '',
      wallet: localStorage.getItem(WALLET) ?? '',
    });
    history.replaceState(null, '', addressOf(this.get()));
    addEventListener('hashchange', () => {
      super.set({ ...this.get(), ...readAddress(location.hash, this.get().surface) });
    });
  }

  /** Changes some settings. */
  change(some: Partial<Settings>): void {
    const before = this.get();
    const after = { ...before, ...some };
    keep(localStorage, APP, after.app === 'default' ? '' : after.app);
    keep(localStorage, WALLET, after.wallet);
    keep(sessionStorage, KEY, after.key);
    const address = addressOf(after);
    if (after.sessionId !== before.sessionId) history.pushState(null, '', address);
    else history.replaceState(null, '', address);
    super.set(after);
  }
}

/** Reads `#session=…&surface=…`. Creates a new session id if it is missing or invalid. */
export function readAddress(
  hash: string,
  byDefault: SurfaceName = 'current',
): Pick<Settings, 'sessionId' | 'surface'> {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const session = fields.get('session') ?? '';
  const surface = fields.get('surface');
  return {
    sessionId: UUID.test(session) ? session.toLowerCase() : randomId(),
    surface: surface === 'current' || surface === 'legacy' ? surface : byDefault,
  };
}

/** Returns the URL fragment that names a session and its surface. */
export function addressOf({ sessionId, surface }: Pick<Settings, 'sessionId' | 'surface'>): string {
  return `#session=${sessionId}&surface=${surface}`;
}

function keep(storage: Storage, name: string, value: string): void {
  if (value === '') storage.removeItem(name);
  else storage.setItem(name, value);
}
