import type { BrowserContext, Page } from 'playwright-core';
import { Gate } from '../support/gate.js';

/** A call that a page made to a wallet. */
export interface WalletCall {
  readonly wallet: string;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a wallet does with a prompt: nothing at all, a JSON-RPC error, or a result of its own. */
export type Answer =
  'approve' | { readonly code: number; readonly message?: string } | { readonly result: unknown };

/** The methods for which a wallet asks the person. */
const PROMPTS = ['eth_requestAccounts', 'eth_sendTransaction', 'eth_signTypedData_v4', 'personal_sign'];

/**
 * A wallet of a browser (EIP-1193) over real nodes, whose unlocked accounts need no keys. What the person does with its
 * prompts is the test's to say.
 */
export class TestWallet {
  chainId: number;
  accounts: readonly string[];
  readonly calls: WalletCall[] = [];
  /** The hashes of the transactions that it has sent. */
  readonly sent: string[] = [];
  readonly #unknown = new Set<number>();
  readonly #waiting = new Set<() => void>();
  /** The next answers to prompts; afterwards it approves. */
  readonly answers: (Answer | Gate)[] = [];
  /** Whether the page may see the accounts. */
  isConnected = false;

  constructor(
    readonly name: string,
    /** URLs of nodes by chain id: the chains that the wallet knows. */
    private readonly nodes: ReadonlyMap<number, string>,
    accounts: readonly string[],
  ) {
    this.accounts = accounts;
    [this.chainId = 1] = nodes.keys();
  }

  /** How often a method was called. */
  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length;
  }

  /** Resolves once this holds; looks after each call and each transaction. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  #tell(): void {
    for (const tell of this.#waiting) tell();
    this.#waiting.clear();
  }

  /** Removes a chain from the wallet. */
  forget(chainId: number): void {
    this.#unknown.add(chainId);
  }

  /** Adds a chain again. */
  learn(chainId: number): void {
    this.#unknown.delete(chainId);
  }

  async handle(method: string, params: readonly unknown[]): Promise<unknown> {
    this.calls.push({ wallet: this.name, method, params });
    this.#tell();
    if (PROMPTS.includes(method)) {
      for (let answer = this.answers.shift(); answer !== undefined && answer !== 'approve';) {
        if (!(answer instanceof Gate)) {
          if ('code' in answer) throw new RpcError(answer.code, answer.message ?? 'The test said so');
          return answer.result;
        }
        await answer.passed;
        answer = this.answers.shift();
      }
    }
    switch (method) {
      case 'eth_requestAccounts':
        this.isConnected = true;
        return this.accounts.map((account) => account.toLowerCase());
      case 'eth_accounts':
        return this.isConnected ? this.accounts.map((account) => account.toLowerCase()) : [];
      case 'eth_chainId':
        return `0x${this.chainId.toString(16)}`;
      case 'wallet_switchEthereumChain': {
        const [wanted] = params;
        const id =
          typeof wanted === 'object' && wanted !== null && 'chainId' in wanted ? Number(wanted.chainId) : 0;
        if (!this.nodes.has(id) || this.#unknown.has(id)) throw new RpcError(4902, 'Unrecognized chain');
        this.chainId = id;
        return null;
      }
      case 'eth_sendTransaction': {
        const hash = String(await this.#node(method, params));
        this.sent.push(hash);
        this.#tell();
        return hash;
      }
      default:
        return this.#node(method, params);
    }
  }

  async #node(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await fetch(this.nodes.get(this.chainId) ?? '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const body: unknown = await response.json();
    if (typeof body !== 'object' || body === null) throw new Error('The node did not answer');
    if ('error' in body && typeof body.error === 'object' && body.error !== null) {
      const { code, message } = { code: 0, message: '', ...body.error };
      throw new RpcError(code, message);
    }
    return 'result' in body ? body.result : null;
  }
}

class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Puts wallets into every page of a context before its scripts run.
 * @param how `announced`: as EIP-6963 says; `injected`: the first one is `window.ethereum`
 */
export async function installWallets(
  context: BrowserContext,
  wallets: readonly TestWallet[],
  how: 'announced' | 'injected' = 'announced',
): Promise<void> {
  await context.exposeFunction('testWallet', async (name: string, method: string, params: unknown[]) => {
    const wallet = wallets.find((one) => one.name === name);
    try {
      return { result: await wallet?.handle(method, params) };
    } catch (error) {
      const code = error instanceof RpcError ? error.code : null;
      return { code, message: error instanceof Error ? error.message : String(error) };
    }
  });
  const names = JSON.stringify(wallets.map(({ name }) => name));
  await context.addInitScript(`(${inject})(${names}, '${how}')`);
}

/** Runs in the page. As text, because it is none of this process's code. */
const inject = `(names, how) => {
  const wallets = names.map((name, index) => {
    const listeners = new Map();
    const provider = {
      async request({ method, params = [] }) {
        const { result, code, message } = await globalThis.testWallet(name, method, params);
        if (message !== undefined) throw Object.assign(new Error(message), code === null ? {} : { code });
        if (method === 'wallet_switchEthereumChain') provider.emit('chainChanged', params[0].chainId);
        return result;
      },
      on(event, listener) { listeners.set(event, [...(listeners.get(event) ?? []), listener]); },
      removeListener(event, listener) {
        listeners.set(event, (listeners.get(event) ?? []).filter((other) => other !== listener));
      },
      emit(event, value) { for (const listener of listeners.get(event) ?? []) listener(value); },
    };
    const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="teal"/></svg>';
    const info = { uuid: 'uuid-' + index, name, icon, rdns: 'test.' + name.toLowerCase() };
    return Object.freeze({ info, provider });
  });
  globalThis.testProviders = Object.fromEntries(wallets.map(({ info, provider }) => [info.name, provider]));
  if (how === 'injected') { globalThis.ethereum = wallets[0].provider; return; }
  addEventListener('eip6963:requestProvider', () => {
    for (const detail of wallets) dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  });
}`;

/** Makes a wallet of a page announce that its account or its chain has changed. */
export async function emit(page: Page, wallet: string, event: string, value: unknown): Promise<void> {
  await page.evaluate(
    `globalThis.testProviders[${JSON.stringify(wallet)}].emit('${event}', ${JSON.stringify(value)})`,
  );
}
