import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** What the browser says when a service is away; only tests that stop the service may see it. */
const AWAY =
  /net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED)/;

/** Somebody who has the page open. */
export class Visitor {
  /** What the browser found wrong: errors on the console, broken rules of the policy, requests to other hosts. */
  readonly faults: string[] = [];

  private constructor(readonly page: Page) {}

  /** Opens the page. @param options `fragment`: of the address, such as `surface=legacy` */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions & { readonly fragment?: string; readonly mayBeAway?: boolean } = {},
  ): Promise<Visitor> {
    const { fragment = '', mayBeAway = false, ...context } = options;
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...context });
    const visitor = new Visitor(page);
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      if (!mayBeAway || !AWAY.test(message.text())) visitor.faults.push(message.text());
    });
    page.on('pageerror', (error) => visitor.faults.push(String(error.stack)));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`)) visitor.faults.push(`a request to ${request.url()}`);
    });
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

  async openTab(name: string): Promise<Locator> {
    await this.page.getByRole('tab', { name }).click();
    return this.page.getByRole('tabpanel', { name });
  }

  async leave(): Promise<void> {
    await this.page.context().close();
  }
}
