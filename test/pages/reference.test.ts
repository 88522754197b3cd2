import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, launchBrowser, untilInPage } from '../support/browser.js';
import { serveScripted } from '../support/http.js';
import { documents } from '../support/openapi/documents.js';

/** Against hanging: a browser on a busy machine takes its time. */
const BOUND_MS = 240_000;

const NAMES = ['current', 'legacy'] as const;

describeWithBrowser('the reference at /docs', () => {
  let browser: Browser;
  let server: Awaited<ReturnType<typeof serveScripted>>;
  beforeAll(async () => {
    [browser, server] = await Promise.all([launchBrowser(), serveScripted()]);
  }, BOUND_MS);
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  /** Opens a page that keeps everything a reader should never see. */
  async function open(path: string): Promise<{ page: Page; complaints: string[]; asked: Set<string> }> {
    const page = await browser.newPage();
    // The test's own bound is enough.
    page.setDefaultTimeout(0);
    const complaints: string[] = [];
    const asked = new Set<string>();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) asked.add(new URL(request.url()).origin);
    });
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.url()}: ${String(response.status())}`);
    });
    // Policy violations are reported to the document, whatever the console shows of them.
    await page.exposeFunction('complain', (text: string) => complaints.push(text));
    await page.addInitScript(
      `document.addEventListener('securitypolicyviolation', (event) => complain(event.violatedDirective + ' ' + event.blockedURI))`,
    );
    await page.goto(server.url + path);
    return { page, complaints, asked };
  }

  const operationsIn = (name: (typeof NAMES)[number]) =>
    Object.values(documents[name].paths).flatMap(({ servers: _servers, ...methods }) => Object.keys(methods))
      .length;

  it(
    'shows both documents, complains of nothing, and asks no other host',
    async () => {
      const { page, complaints, asked } = await open('/docs');
      for (const name of NAMES) {
        await page.locator('select#select').selectOption({ label: name });
        await page.getByRole('heading', { name: documents[name].info.title }).waitFor();
        const all = `document.querySelectorAll('.opblock').length === ${String(operationsIn(name))}`;
        await untilInPage(page, all);
        // Each can be opened, and shows what it answers.
        const chat = page.locator('.opblock', {
          hasText: name === 'current' ? 'Send a message' : 'and stream the reply',
        });
        await chat.locator('.opblock-summary-control').click();
        await chat.getByText('Idempotency-Key').first().waitFor();
        await chat.locator('.responses-table .response').first().waitFor();
        // What is open stays open in the other document, where an operation of that name is there.
        await chat.locator('.opblock-summary-control').click();
        await chat.locator('.opblock-body').waitFor({ state: 'detached' });
      }
      expect(await page.locator('.errors-wrapper').count()).toBe(0);
      expect(complaints).toEqual([]);
      expect([...asked]).toEqual([server.url]);
      await page.close();
    },
    BOUND_MS,
  );

  it(
    'sends a request to the surface that it shows',
    async () => {
      const { page, complaints, asked } = await open('/docs');
      const health = page.locator('.opblock', { hasText: '/api/health' });
      await health.locator('.opblock-summary-control').click();
      const answered = page.waitForResponse(`${server.url}/current/api/health`);
      await health.getByRole('button', { name: 'Execute' }).click();
      expect((await answered).status()).toBe(200);
      await health.getByText('"status": "ok"').first().waitFor();
      expect(complaints).toEqual([]);
      expect([...asked]).toEqual([server.url]);
      await page.close();
    },
    BOUND_MS,
  );
});
