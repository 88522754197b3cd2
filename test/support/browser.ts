import { existsSync } from 'node:fs';
import { afterAll } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { describeWhere } from './describe-where.js';

/** Where Chromium is looked for; `CHROMIUM` names another place. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = [process.env.CHROMIUM ?? '', ...PLACES].find(
  (path) => path !== '' && existsSync(path),
);

const missing =
  executablePath === undefined ? `skipped: no Chromium in ${PLACES.join(', ')} or $CHROMIUM` : null;
if (missing !== null && process.env.CI === 'true') throw new Error(missing);
const describeHere = describeWhere(missing);

/** Describes tests that need a browser: without one they are skipped, but fail when `CI` is `true`. */
export function describeWithBrowser(name: string, tests: () => void): void {
  describeHere(name, () => {
    afterAll(async () => {
      await Promise.all([...running].map((browser) => browser.close()));
    });
    tests();
  });
}

const running = new Set<Browser>();

/** Starts a browser that asks nobody anything by itself; it is closed after the tests of `describeWithBrowser`. */
export async function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(missing ?? 'no Chromium');
  const browser = await chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
    ],
  });
  running.add(browser);
  browser.once('disconnected', () => running.delete(browser));
  return browser;
}

/**
 * Resolves once an expression holds in the page; a promise is awaited. `waitForFunction` evaluates a string again for
 * each look, which the page's Content-Security-Policy forbids from the second one on.
 */
export async function untilInPage(page: Page, expression: string): Promise<void> {
  await page.evaluate(`(async () => {
    while (!(await (${expression}))) await new Promise(requestAnimationFrame);
  })()`);
}
