import { Observable } from '../../parts/observable.js';
import { readStored, store } from '../../parts/storage.js';
import { checksummed, isAddress } from './address.js';
import type { Discovery, FoundWallet } from './discovery.js';
import { callWallet, CODES, listen, WalletError, type Provider } from './provider.js';

/** The connected wallet. */
export interface Connected {
  readonly wallet: FoundWallet;
  /** The selected account, with its checksum. */
  readonly account: string;
  /** The selected chain; null: the wallet did not name one. */
  readonly chainId: number | null;
}

/** The connection to a wallet. */
export interface ConnectionState {
  readonly connected: Connected | null;
  /** The wallet that is asked to connect. */
  readonly asked: FoundWallet | null;
  readonly problem: string | null;
}

const LAST = 'diptych.wallet-maker';

/** Connects a wallet of this browser, and follows its account and its chain. Connects the last one again at a visit. */
export class WalletConnection extends Observable<ConnectionState> {
  #leave: () => void = () => undefined;
  /** The wallet and its chain, also while no account is selected, because the wallet may be unlocked later. */
  #last: Omit<Connected, 'account'> | null = null;
  #isResumed = false;

  constructor(readonly discovery: Discovery) {
    super({ connected: null, asked: null, problem: null });
    discovery.subscribe(this.#resume);
    this.#resume();
  }

  /** Asks a wallet to connect. What another one answers that was asked before is ignored. */
  async connect(wallet: FoundWallet): Promise<void> {
    this.#isResumed = true;
    this.set({ ...this.get(), asked: wallet, problem: null });
    const isLate = (): boolean => this.get().asked !== wallet;
    try {
      await callWallet(wallet.provider, 'eth_requestAccounts');
      if (isLate() || !(await this.#use(wallet))) return;
      store('browser', LAST, wallet.maker);
      if (this.get().connected === null) throw new WalletError('The wallet has no account for this page.');
    } catch (error) {
      if (!isLate()) this.set({ ...this.get(), problem: connectProblem(error) });
    } finally {
      if (!isLate()) this.set({ ...this.get(), asked: null });
    }
  }

  /** Forgets the wallet. The wallet itself keeps its permission for this page. */
  disconnect(): void {
    this.#leave();
    this.#leave = () => undefined;
    this.#last = null;
    store('browser', LAST, '');
    this.set({ connected: null, asked: null, problem: null });
  }

  /** Connects the wallet of the last visit, without a prompt. */
  readonly #resume = (): void => {
    const last = readStored('browser', LAST);
    const wallet = this.discovery.get().find(({ maker }) => maker === last);
    if (wallet === undefined || this.#isResumed) return;
    this.#isResumed = true;
    // A wallet that does not respond stays disconnected.
    this.#use(wallet).catch(() => undefined);
  };

  /**
   * Reads account and chain after it listens to their changes, so that it misses none.
   * @returns false if another wallet was connected, or this one disconnected, before it responded
   */
  async #use(wallet: FoundWallet): Promise<boolean> {
    this.#leave();
    this.#last = null;
    const { provider } = wallet;
    const stops = [
      listen(provider, 'accountsChanged', (now) => {
        this.#change({ account: firstOf(now) });
      }),
      listen(provider, 'chainChanged', (now) => {
        this.#change({ chainId: chainOf(now) });
      }),
    ];
    const leave = (): void => {
      for (const stop of stops) stop();
    };
    this.#leave = leave;
    const [chainId, accounts] = await Promise.all([
      chainIdOf(provider),
      callWallet(provider, 'eth_accounts'),
    ]);
    if (this.#leave !== leave) return false;
    const account = firstOf(accounts);
    this.set({ ...this.get(), connected: account === null ? null : { wallet, account, chainId } });
    this.#last = { wallet, chainId };
    return true;
  }

  #change(news: { readonly account?: string | null; readonly chainId?: number | null }): void {
    const { connected } = this.get();
    if (this.#last === null) return;
    const { wallet } = this.#last;
    const chainId = news.chainId === undefined ? this.#last.chainId : news.chainId;
    this.#last = { wallet, chainId };
    const account = news.account === undefined ? (connected?.account ?? null) : news.account;
    this.set({ ...this.get(), connected: account === null ? null : { wallet, account, chainId } });
  }
}

/**
 * Returns the selected chain; null if the wallet names none.
 * @throws WalletError
 */
export async function chainIdOf(provider: Provider): Promise<number | null> {
  return chainOf(await callWallet(provider, 'eth_chainId'));
}

function chainOf(value: unknown): number | null {
  const id = typeof value === 'string' && /^(0x[0-9a-f]+|\d+)$/i.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null;
}

function firstOf(accounts: unknown): string | null {
  const first: unknown = Array.isArray(accounts) ? accounts[0] : undefined;
  return isAddress(first) ? checksummed(first) : null;
}

function connectProblem(error: unknown): string {
  if (error instanceof WalletError && error.code === CODES.rejected)
    return 'You declined to connect the wallet.';
  return error instanceof Error ? error.message : String(error);
}
