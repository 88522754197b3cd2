import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createClient } from '../../src/client/index.js';
import { Place } from '../cli/running.js';
import { describeWithBrowser, launchBrowser, untilInPage } from '../support/browser.js';
import { ROOT } from '../support/server-process.js';

const TYPES: Record<string, string | undefined> = { '.html': 'text/html', '.js': 'text/javascript' };

/** The samples, and the folders that they are built into. */
const SAMPLES = [
  { sample: 'ai-sdk', name: 'ai-sdk', alias: {} },
  { sample: 'ai-sdk', name: 'ai-sdk with ai 5', alias: { '@ai-sdk/react': 'ai-sdk-react-2' } },
  { sample: 'ai-sdk', name: 'ai-sdk with ai 7', alias: { '@ai-sdk/react': 'ai-sdk-react-4' } },
  { sample: 'assistant-ui', name: 'assistant-ui', alias: {} },
];

/** Builds a sample into a folder, as its readers do. @param alias packages in place of others */
function build(sample: string, folder: string, alias: Record<string, string>): void {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const config = `${folder}.config.mjs`;
  mkdirSync(dirname(folder), { recursive: true });
  writeFileSync(config, `export default ${JSON.stringify({ resolve: { alias } })};`);
  const options = ['--config', config, '--outDir', folder, '--base', './', '--logLevel', 'warn'];
  const run = spawnSync(process.execPath, [vite, 'build', join(ROOT, 'docs/examples', sample), ...options], {
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(run.stdout + run.stderr);
}

/** Serves the files of a folder on a free port. */
async function serveFiles(folder: string): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    readFile(join(folder, normalize(decodeURIComponent(pathname)))).then(
      (file) => response.setHeader('Content-Type', TYPES[extname(pathname)] ?? 'text/plain').end(file),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { server, url: `http://127.0.0.1:${String(address.port)}` };
}

/** The whole numbers from 1, as the demo rig counts. */
const counted = (text: string): string =>
  Array.from({ length: text.split(' ').length }, (_, index) => String(index + 1)).join(' ');

const place = new Place();
let files: Awaited<ReturnType<typeof serveFiles>>;
let browser: Browser;
let service = '';

describeWithBrowser('the sample chat', () => {
  beforeAll(async () => {
    for (const { sample, name, alias } of SAMPLES) build(sample, join(place.directory, 'built', name), alias);
    files = await serveFiles(join(place.directory, 'built'));
    [{ url: service }, browser] = await Promise.all([place.serve({ DEMO_TOKEN_MS: '10' }), launchBrowser()]);
  });
  afterAll(async () => {
    files.server.closeAllConnections();
    files.server.close();
    await place.clear();
  });

  describe.each(SAMPLES)('of $name', ({ sample, name }) => {
    let page: Page;
    const faults: string[] = [];

    const replies = () => page.locator('[data-role=assistant]');
    const stop = () => page.getByRole('button', { name: 'Stop' });
    const send = async (text: string): Promise<void> => {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    };
    const shows = (n: number, text: string | RegExp): Promise<void> =>
      replies().nth(n).filter({ hasText: text }).waitFor();

    beforeAll(async () => {
      page = await browser.newPage();
      page.on('pageerror', (error) => faults.push(String(error.stack)));
      page.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      await page.goto(
        `${files.url}/${encodeURIComponent(name)}/index.html?service=${encodeURIComponent(service)}`,
      );
    });
    afterEach(() => {
      expect(faults).toEqual([]);
    });

    it('shows a tool call and the reply', async () => {
      await send('What is 12*(3+4)?');
      await shows(0, '12*(3+4) = 84.');
      await stop().waitFor({ state: 'detached' });
      const tool = replies().nth(0).locator('details');
      expect(await tool.count()).toBe(1);
      await tool.locator('summary').click();
      expect(await tool.innerText()).toMatch(/calculate[^]*12\*\(3\+4\)[^]*84/);
    });

    it('continues a running reply after a reload, and stops it', async () => {
      await send('count from 1 to 2000');
      await shows(1, /1 2 3 /);
      await page.reload();
      await shows(1, /1 2 3 /);
      const before = await replies().nth(1).locator('p').innerText();
      await shows(1, ` ${String(before.split(' ').length + 20)} `);
      await stop().click();
      await stop().waitFor({ state: 'detached' });
      expect(await replies().count()).toBe(2);
      const told = await replies().nth(1).locator('p').innerText();
      expect(told).toBe(counted(told));
      const client = createClient({ url: service, sessionId: new URL(page.url()).hash.slice(1) });
      const { status, messages } = await client.state();
      client.close();
      expect(status).toBe('idle');
      expect(messages.at(-1)?.content.startsWith(told)).toBe(true);
    });

    it('takes the next message, and shows everything once after another reload', async () => {
      await send('What is 1+1?');
      await shows(2, '1+1 = 2.');
      await stop().waitFor({ state: 'detached' });
      await page.reload();
      await shows(2, '1+1 = 2.');
      expect(await replies().count()).toBe(3);
      expect(await page.locator('[data-role=user] p').allInnerTexts()).toEqual([
        ...['What is 12*(3+4)?', 'count from 1 to 2000', 'What is 1+1?'],
      ]);
      await replies().nth(2).locator('summary').click();
      expect(await replies().nth(2).innerText()).toMatch(/calculate[^]*1\+1[^]*2[^]*1\+1 = 2\./);
    });

    if (sample === 'assistant-ui')
      it('shows another thread, and the first one again', async () => {
        await page.evaluate(`location.hash = ${JSON.stringify(randomUUID())}`);
        await replies().nth(0).waitFor({ state: 'detached' });
        await send('What is 2+2?');
        await shows(0, '2+2 = 4.');
        await page.goBack();
        await shows(2, '1+1 = 2.');
        expect(await replies().count()).toBe(3);
      });

    if (sample === 'assistant-ui')
      it('returns a refused message to the input, and follows a deleted thread again with the next one', async () => {
        const alert = page.getByRole('alert');
        const sessionId = new URL(page.url()).hash.slice(1);
        await fetch(`${service}/api/sessions/${sessionId}`, { method: 'DELETE' });
        await alert.waitFor();
        const headers = { 'Access-Control-Allow-Origin': '*' };
        await page.route('**/api/chat*', (route) => route.fulfill({ status: 403, body: '{}', headers }), {
          times: 1,
        });
        await send('What is 2+2?');
        await untilInPage(page, `document.querySelector('[aria-label=Message]').value === 'What is 2+2?'`);
        await page.getByLabel('Message').press('Enter');
        await shows(0, '2+2 = 4.');
        await stop().waitFor({ state: 'detached' });
        expect(await replies().count()).toBe(1);
        await alert.waitFor({ state: 'detached' });
        expect(faults.splice(0).join()).toMatch(/status of 404[^]*status of 403/);
      });

    if (sample === 'ai-sdk')
      it('streams a reply on while another chat is shown', async () => {
        const before = await replies().count();
        await send('count from 1 to 2000');
        await shows(before, /1 2 3 /);
        await page.getByRole('button', { name: 'New chat' }).click();
        await replies().nth(0).waitFor({ state: 'detached' });
        await send('What is 2+2?');
        await shows(0, '2+2 = 4.');
        await page.goBack();
        await shows(before, /1 2 3 /);
        const told = await replies().nth(before).locator('p').innerText();
        await shows(before, ` ${String(told.split(' ').length + 20)} `);
        await stop().click();
        await stop().waitFor({ state: 'detached' });
        const all = await replies().nth(before).locator('p').innerText();
        expect(all).toBe(counted(all));
      });

    if (sample === 'ai-sdk')
      it('goes on in a branch with another reply and with a changed message, also after a reload', async () => {
        const sessionId = (): string => new URL(page.url()).hash.slice(1);
        const first = sessionId();
        const questions = page.locator('[data-role=user] p');
        await replies().nth(0).getByRole('button', { name: 'Regenerate' }).click();
        await replies().nth(1).waitFor({ state: 'detached' });
        await shows(0, '12*(3+4) = 84.');
        await stop().waitFor({ state: 'detached' });
        const second = sessionId();
        expect(second).not.toBe(first);

        await page.getByRole('button', { name: 'Edit' }).click();
        expect(await page.getByLabel('Message').inputValue()).toBe('What is 12*(3+4)?');
        await page.getByLabel('Message').fill('What is 2+3?');
        await page.getByRole('button', { name: 'Send edited' }).click();
        await shows(0, '2+3 = 5.');
        await stop().waitFor({ state: 'detached' });
        expect(new Set([first, second, sessionId()]).size).toBe(3);
        await page.reload();
        await shows(0, '2+3 = 5.');
        expect(await questions.allInnerTexts()).toEqual(['What is 2+3?']);
        await send('What is 1+1?');
        await shows(1, '1+1 = 2.');
        await stop().waitFor({ state: 'detached' });

        const client = createClient({ url: service, sessionId: first });
        expect(JSON.stringify((await client.state()).messages)).toContain('count from 1 to 2000');
        client.close();
      });
  });
});
