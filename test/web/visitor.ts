import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** What the browser says when a service is away; only tests that stop the service may see it. */
const AWAY =
  /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/;

/**
 * What a browser finds wrong from now on: errors on the console, broken rules of the policy, requests to other places
 * than `url`.
 * @param mayBeAway whether the service may be stopped during the visit
 */
export function faultsOf(page: Page, url: string, mayBeAway = false): readonly string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (!mayBeAway || !AWAY.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error.stack)));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) faults.push(`a request to ${request.url()}`);
  });
  return faults;
}

/** What axe finds, as `rule: place`. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target)))`,
  );
  return Array.isArray(found) ? found.map(String) : ['axe did not answer'];
}

/** Lets a browser deny storage and locks to every page, as Chromium does to a site whose cookies are blocked. */
export function denyStorage(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(`{
    const denied = () => new DOMException('Access is denied for this document.', 'SecurityError');
    for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw denied(); } });
    LockManager.prototype.request = () => Promise.reject(denied());
  }`);
}

/** Somebody who has the page open. */
export class Visitor {
  readonly #excused: RegExp[] = [];

  private constructor(
    readonly page: Page,
    private readonly found: readonly string[],
  ) {}

  /** What was wrong so far, without what the test has excused. */
  get faults(): readonly string[] {
    return this.found.filter((fault) => !this.#excused.some((pattern) => pattern.test(fault)));
  }

  /** Excuses what the browser itself reports of requests that the service refuses. */
  excuse(pattern: RegExp): void {
    this.#excused.push(pattern);
  }

  /**
   * Opens the page.
   * @param options `fragment`: of the address, such as `surface=legacy`; `prepare`: changes the browser before
   */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions & {
      readonly fragment?: string;
      readonly mayBeAway?: boolean;
      readonly prepare?: (context: BrowserContext) => Promise<unknown>;
    } = {},
  ): Promise<Visitor> {
    const { fragment = '', mayBeAway = false, prepare, ...settings } = options;
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...settings });
    await prepare?.(context);
    return Visitor.#of(await context.newPage(), url, { fragment, mayBeAway });
  }

  /** Opens the page in a tab, without anything in its address. */
  static inTab(page: Page, url: string): Promise<Visitor> {
    return Visitor.#of(page, url, { fragment: '', mayBeAway: false });
  }

  /** Opens the same session in another tab of the same browser. */
  async another(url: string): Promise<Visitor> {
    const fragment = new URL(this.page.url()).hash.slice(1);
    return Visitor.#of(await this.page.context().newPage(), url, { fragment, mayBeAway: false });
  }

  static async #of(
    page: Page,
    url: string,
    { fragment, mayBeAway }: { readonly fragment: string; readonly mayBeAway: boolean },
  ): Promise<Visitor> {
    const visitor = new Visitor(page, faultsOf(page, url, mayBeAway));
    await page.goto(`${url}/#${fragment}`);
    await visitor.composer.waitFor();
    return visitor;
  }

  get composer(): Locator {
    return this.page.getByLabel('Message', { exact: true });
  }

  get answers(): Locator {
    return this.page.locator('[data-role=assistant]');
  }

  get questions(): Locator {
    return this.page.locator('[data-role=user]');
  }

  get queue(): Locator {
    return this.page.getByRole('region', { name: 'Waiting messages' }).getByRole('listitem');
  }

  get sessionId(): string {
    return new URLSearchParams(new URL(this.page.url()).hash.slice(1)).get('session') ?? '';
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  async say(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press('Enter');
  }

  /** Resolves once the n-th answer (from 0) holds this text. */
  async hears(text: string | RegExp, n: number): Promise<void> {
    await this.answers.nth(n).filter({ hasText: text }).waitFor();
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    await this.button('Interrupt').waitFor({ state: 'detached' });
  }

  /** Opens a section of the sidebar, unless it is open. */
  async openSection(name: string): Promise<void> {
    const head = this.page.getByRole('button', { name: new RegExp(`^${name}`), expanded: false });
    const open = this.page.getByRole('button', { name: new RegExp(`^${name}`), expanded: true });
    await head.or(open).waitFor();
    if ((await head.count()) > 0) await head.click();
    await open.waitFor();
  }

  async openTab(name: string): Promise<Locator> {
    const toggle = this.button('Inspector');
    if ((await toggle.getAttribute('aria-expanded')) === 'false') await toggle.click();
    await this.page.getByRole('tab', { name }).click();
    return this.page.getByRole('tabpanel', { name });
  }

  async leave(): Promise<void> {
    await this.page.context().close();
  }
}
