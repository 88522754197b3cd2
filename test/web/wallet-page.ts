import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import type { Script } from '../support/upstream.js';
import { calls, says } from './scripted-service.js';
import { denyStorage, Visitor } from './visitor.js';
import { installWallets, type TestWallet } from './wallet-browser.js';

/** The lines of the configuration file for chains. */
export function chainLines(nodes: ReadonlyMap<number, string>): string {
  const lines = [...nodes].map(
    ([id, url]) => `  - { id: ${String(id)}, name: Local ${String(id)}, rpcUrls: ['${url}'] }\n`,
  );
  return `chains:\n${lines.join('')}`;
}

let made = 0;

/** Scripts of a model that stages a transaction, requests it, and says so; then it learns the outcome. */
export function pays(transaction: object, ids: readonly number[] = [1]): readonly Script[] {
  const call = String(++made);
  return [
    calls('stage_transaction', transaction, `stage-${call}`),
    calls('request_transactions', { ids }, `request-${call}`),
    says('Please approve.'),
    says('I have read the outcome.'),
  ];
}

/** Scripts of a model that asks for a signature. */
export function asksToSign(message: object): readonly Script[] {
  return [
    calls('request_signature', message, `sign-${String(++made)}`),
    says('Please sign.'),
    says('I have read the outcome.'),
  ];
}

/** Opens the page in a browser with wallets. */
export function visitWith(
  browser: Browser,
  url: string,
  wallets: readonly TestWallet[],
  options: BrowserContextOptions & {
    readonly fragment?: string;
    readonly mayBeAway?: boolean;
    readonly how?: 'announced' | 'injected';
    /** Milliseconds by which the clock of the browser is ahead. */
    readonly clockAhead?: number;
    readonly hasStorage?: boolean;
  } = {},
): Promise<Visitor> {
  const { how, clockAhead = 0, hasStorage = true, ...rest } = options;
  return Visitor.open(browser, url, {
    ...rest,
    prepare: async (context) => {
      await installWallets(context, wallets, how);
      if (!hasStorage) await denyStorage(context);
      if (clockAhead !== 0) await context.addInitScript(`(${shiftClock})(${String(clockAhead)})`);
    },
  });
}

/** Connects a wallet by the panel beside the thread. */
export async function connect(visitor: Visitor, name: string): Promise<void> {
  const { page } = visitor;
  await visitor.openSection('Wallet');
  const panel = page.getByRole('group', { name: 'Browser wallet' });
  await panel.getByRole('button', { name: `Connect ${name}` }).click();
  await panel.getByRole('button', { name: 'Disconnect' }).waitFor();
}

/** The card of a request. */
export function cardOf({ page }: Visitor, id: number): Locator {
  return page.getByRole('article', { name: new RegExp(`^Request ${String(id)} `) });
}

/** The button of a card whose name begins so. */
export function buttonOf(card: Locator, name: string): Locator {
  return card.getByRole('button', { name: new RegExp(`^${name}`) });
}

/** Runs in the page before its scripts: shifts `Date`, and leaves the timers alone. */
const shiftClock = `(ahead) => {
  const now = Date.now.bind(Date);
  globalThis.Date = class extends Date {
    constructor(...parts) { super(...(parts.length === 0 ? [now() + ahead] : parts)); }
    static now() { return now() + ahead; }
  };
}`;
