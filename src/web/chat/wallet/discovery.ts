import { Observable } from '../../parts/observable.js';
import { isObject, textField } from './objects.js';
import { isProvider, type Provider } from './provider.js';
import { visibleLine } from '../../../client/visible-text.js';

/** A wallet of this browser. */
export interface FoundWallet {
  /** Unique on this page. */
  readonly id: string;
  /** The reverse domain name of its maker, stable over visits. */
  readonly maker: string;
  readonly name: string;
  /** A data URL; null: none that can be shown. */
  readonly icon: string | null;
  readonly provider: Provider;
}

/** Maximum number of wallets, and of characters of an icon. */
const MOST = 12;
const MAX_ICON = 100_000;
const MAX_NAME = 40;
const FALLBACK = 'window.ethereum';

/** Finds the wallets of this browser: those that announce themselves (EIP-6963), otherwise `window.ethereum`. */
export class Discovery extends Observable<readonly FoundWallet[]> {
  readonly #announced: FoundWallet[] = [];

  constructor(private readonly scope: Window = window) {
    super([]);
    scope.addEventListener('eip6963:announceProvider', (event) => {
      if (event instanceof CustomEvent) this.#add(readAnnouncement(event.detail));
    });
    // Wallets that do not announce themselves may be injected after the page has started.
    scope.addEventListener('ethereum#initialized', this.#show);
    scope.addEventListener('load', this.#show);
    scope.dispatchEvent(new Event('eip6963:requestProvider'));
    this.#show();
  }

  #add(wallet: FoundWallet | undefined): void {
    const isKnown = this.#announced.some(
      ({ id, provider }) => id === wallet?.id || provider === wallet?.provider,
    );
    if (wallet === undefined || isKnown || this.#announced.length >= MOST) return;
    this.#announced.push(wallet);
    this.#show();
  }

  readonly #show = (): void => {
    const injected: unknown = Reflect.get(this.scope, 'ethereum');
    const needsFallback = this.#announced.length === 0 && isProvider(injected);
    this.set(needsFallback ? [fallback(injected)] : [...this.#announced]);
  };
}

function fallback(provider: Provider): FoundWallet {
  return { id: FALLBACK, maker: FALLBACK, name: 'Browser wallet', icon: null, provider };
}

function readAnnouncement(detail: unknown): FoundWallet | undefined {
  if (!isObject(detail) || !('info' in detail) || !('provider' in detail)) return undefined;
  const { info, provider } = detail;
  if (!isObject(info) || !isProvider(provider)) return undefined;
  const id = textField(info, 'uuid');
  const name = visibleLine(textField(info, 'name'), MAX_NAME);
  if (id === '' || name === '') return undefined;
  const icon = textField(info, 'icon');
  const isShown = icon.startsWith('data:image/') && icon.length <= MAX_ICON;
  return { id, maker: textField(info, 'rdns') || id, name, icon: isShown ? icon : null, provider };
}
