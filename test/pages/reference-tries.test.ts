import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { Place } from '../cli/running.js';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { TASKS } from '../../src/pages/comparison.js';
import { documents } from '../support/openapi/documents.js';
import { findingsOf } from '../web/visitor.js';

/** Against hanging: a browser on a busy machine takes its time. */
const BOUND_MS = 300_000;

/** The calls that the service of this test cannot serve, and the statuses of their responses. */
const REFUSED: Readonly<Record<string, number>> = {
  // Wallets that sign in are not required.
  'current readNonce': 404,
  'current proveWallet': 404,
  // No chain is configured.
  'current simulate': 400,
  // The document describes how unknown actions are refused.
  'legacy refuseAction': 404,
  // Listing Apps needs a key on this surface.
  'legacy listApps': 401,
};

describeWithBrowser('The calls of the reference', () => {
  let browser: Browser;
  let url: string;
  const place = new Place();
  beforeAll(async () => {
    [browser, { url }] = await Promise.all([launchBrowser(), place.serve()]);
  }, BOUND_MS);
  afterAll(() => place.clear());

  async function open(name: 'current' | 'legacy'): Promise<Page> {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(`${url}/docs?urls.primaryName=${name}`);
    await page.getByRole('heading', { name: documents[name].info.title }).waitFor();
    return page;
  }

  /** Executes an operation as it is filled in, and returns the status of its response. */
  async function execute(block: Locator): Promise<number> {
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Execute' }).click();
    const status = await block.locator('.live-responses-table .response-col_status').last().innerText();
    await block.locator('.opblock-summary-control').click();
    await block.locator('.opblock-body').waitFor({ state: 'detached' });
    return Number.parseInt(status, 10);
  }

  it.each(['current', 'legacy'] as const)(
    'all work at the first click on the %s surface, with a session of the visitor',
    async (name) => {
      const page = await open(name);
      const operations = Object.values(documents[name].paths).flatMap((item) =>
        [item.get, item.post, item.patch, item.delete].flatMap((operation) => operation ?? []),
      );
      const results: Record<string, number> = {};
      const expected: Record<string, number> = {};
      for (const { operationId, tags } of operations) {
        const id = `operations-${tags.join('').replaceAll(' ', '_')}-${operationId}`;
        results[operationId] = await execute(page.locator(`[id="${id}"]`));
        expected[operationId] = REFUSED[`${name} ${operationId}`] ?? 200;
      }
      expect(results).toEqual(expected);
      await page.close();
    },
    BOUND_MS,
  );

  it(
    'work again after the visitor has deleted the session, and each visitor has another one',
    async () => {
      const page = await open('current');
      const read = page.locator('#operations-Sessions-getSession');
      expect(await execute(page.locator('#operations-Sessions-deleteSession'))).toBe(200);
      expect(await execute(read)).toBe(200);
      const sessions = new Set<string>();
      page.on('request', (request) => sessions.add(request.headers()['x-session-id'] ?? ''));
      expect(await execute(page.locator('#operations-Conversation-readState'))).toBe(200);
      const other = await browser.newPage();
      other.on('request', (request) => sessions.add(request.headers()['x-session-id'] ?? ''));
      await other.goto(`${url}/docs`);
      expect(await execute(other.locator('#operations-Conversation-readState'))).toBe(200);
      sessions.delete('');
      expect(sessions.size).toBe(2);
    },
    BOUND_MS,
  );

  it(
    'stand side by side, each with a link that opens it in the reference',
    async () => {
      for (const surface of ['current', 'legacy'] as const) {
        const known = Object.values(documents[surface].paths).flatMap((item) =>
          [item.get, item.post, item.patch, item.delete].flatMap((one) => one?.operationId ?? []),
        );
        const named = TASKS.flatMap((task) => task[surface] ?? []);
        expect(known).toEqual(expect.arrayContaining(named));
        if (surface === 'legacy')
          expect([...new Set(named), 'refuseAction', 'readHealthWord'].sort()).toEqual([...known].sort());
      }
      const page = await browser.newPage();
      await page.goto(`${url}/docs`);
      await page.getByRole('link', { name: 'Both surfaces side by side' }).click();
      const row = page.getByRole('row', { name: /^Send a message/ });
      expect(await row.getByRole('link').allInnerTexts()).toEqual([
        'POST /api/chat',
        'POST /api/thread/chat',
      ]);
      expect(
        await page
          .getByRole('row', { name: /^Rename a thread/ })
          .locator('.none')
          .count(),
      ).toBe(1);
      await row.getByRole('link').nth(1).click();
      await page.locator('#operations-Conversation-sendMessage .opblock-body').waitFor();
      await page.getByRole('heading', { name: documents.legacy.info.title }).waitFor();
    },
    BOUND_MS,
  );

  it.each([
    ['at a desk, light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
    ['on a phone, dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ] as const)(
    'are compared without a finding of axe, and nothing is too wide: %s',
    async (_, options) => {
      const page = await browser.newPage(options);
      await page.goto(`${url}/docs/compare`);
      const row = page.getByRole('row', { name: /^Send a message/ });
      expect(await row.getByRole('cell').count()).toBe(2);
      expect(await findingsOf(page)).toEqual([]);
      const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      expect(await page.evaluate(isTooWide)).toBe(false);
      await page.close();
    },
    BOUND_MS,
  );
});
