import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { readLogo } from '../../src/composition/logo.js';
import { pageOf } from '../../src/config/page.js';
import { describeWithBrowser, launchBrowser, untilInPage } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { findingsOf, Visitor } from './visitor.js';

const SVG = `<?xml version="1.0"?>\n<!-- A logo -->\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>document.title = 'owned'</script><rect width="8" height="8" fill="#7a1fa2"/></svg>`;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('the file of a logo', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'diptych-test-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  function read(name: string, content?: string | Buffer) {
    if (content !== undefined) writeFileSync(join(folder, name), content);
    return readLogo({ file: join(folder, 'diptych.yaml'), pageSettings: pageOf({ logo: `./${name}` }) });
  }

  it('is recognized by its content, whatever its name', async () => {
    expect(await read('a.svg', SVG)).toMatchObject({ type: 'image/svg+xml', extension: 'svg' });
    expect(await read('e.svg', '<!-- one --><!-- two -- >\n--><svg></svg>')).toMatchObject({
      extension: 'svg',
    });
    expect(await read('b.svg', PNG)).toMatchObject({ type: 'image/png', extension: 'png' });
    expect(await read('c.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]))).toMatchObject({ type: 'image/jpeg' });
    expect(await read('d.webp', 'RIFF\0\0\0\0WEBPVP8 ')).toMatchObject({ type: 'image/webp' });
    expect(await readLogo({ file: null, pageSettings: pageOf(null) })).toBeNull();
  });

  it.each([
    ['none.svg', undefined, 'there is no file'],
    ['page.svg', '<!doctype html><svg></svg>', 'is not an image'],
    ['empty.png', '', 'is not an image'],
    ['remarks.svg', '<!-- a remark -->'.repeat(10_000), 'is not an image'],
    ['large.png', Buffer.concat([PNG, Buffer.alloc(262_144)]), 'must have at most 262144 bytes'],
  ])('is refused: %s', async (name, content, words) => {
    await expect(read(name, content)).rejects.toThrow(`diptych.yaml: page.logo: `);
    await expect(read(name, content)).rejects.toThrow(words);
  });
});

describeWithBrowser('The page of an operator', () => {
  let service: ScriptedService;
  let browser: Browser;
  let visitor: Visitor;
  const page = `page:
  title: Acme & <Sons>
  logo: ./logo.svg
  colors: { light: '#7a1fa2', dark: '#ffd54f' }
  prompts: [Ask about the service]
`;

  beforeAll(async () => {
    [service, browser] = await Promise.all([
      ScriptedService.start(
        {},
        {
          more: page,
          apps: `  - { name: default }\n  - { name: special, prompts: [Ask the special one, And again] }\n  - { name: quiet, prompts: [] }\n`,
          files: { 'logo.svg': SVG },
        },
      ),
      launchBrowser(),
    ]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(() => service.close());

  it.each([
    ['light', 'rgb(122, 31, 162)', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(255, 213, 79)', 'rgb(20, 17, 12)'],
  ] as const)('has its title, logo and colors in %s', async (colorScheme, accent, ink) => {
    visitor = await Visitor.open(browser, service.url, { colorScheme });
    const { page: tab } = visitor;
    await tab.getByText('Acme & <Sons>', { exact: true }).waitFor();
    expect(await tab.title()).toBe('New Chat · Acme & <Sons>');
    await untilInPage(tab, "document.querySelector('.brand img').naturalWidth > 0");
    const style = (property: string) =>
      tab.evaluate(`getComputedStyle(document.querySelector('.button.primary.wide')).${property}`);
    expect(await style('backgroundColor')).toBe(accent);
    expect(await style('color')).toBe(ink);
    expect(await findingsOf(tab)).toEqual([]);
    await visitor.say('Hello');
    await visitor.hears('You said: Hello', 0);
    expect(await findingsOf(tab)).toEqual([]);
  });

  it('offers the prompts of the App, else of the service', async () => {
    const key = await service.appKey('special', 'quiet');
    visitor = await Visitor.open(browser, service.url);
    const examples = visitor.page.getByRole('list', { name: 'Examples' });
    expect(await examples.getByRole('button').allInnerTexts()).toEqual(['Ask about the service']);
    await visitor.openSection('Assistant');
    await visitor.page.getByLabel('App key').fill(key);
    await visitor.page.getByLabel('App key').press('Enter');
    await visitor.page.locator('option', { hasText: 'special' }).waitFor({ state: 'attached' });
    await visitor.page.getByLabel('App', { exact: true }).selectOption('quiet');
    await examples.waitFor({ state: 'detached' });
    await visitor.page.getByLabel('App', { exact: true }).selectOption('special');
    await examples.getByRole('button', { name: 'Ask the special one' }).click();
    await visitor.hears('You said: Ask the special one', 0);
  });

  it('keeps the draft in the input when a prompt is chosen', async () => {
    visitor = await Visitor.open(browser, service.url);
    await visitor.composer.fill('Half a question');
    await visitor.button('Ask about the service').click();
    await visitor.hears('You said: Ask about the service', 0);
    expect(await visitor.composer.inputValue()).toBe('Half a question');
  });

  it('is available before any script, and its logo is cached without expiry and cannot run scripts', async () => {
    const html = await (await fetch(service.url)).text();
    expect(html).toContain('<title>Acme &amp; &lt;Sons&gt;</title>');
    const [, path = ''] = /<link rel="icon" href="\.\/(assets\/logo-[0-9a-f]{16}\.svg)"/.exec(html) ?? [];
    const logo = await fetch(`${service.url}/${path}`);
    expect(await logo.text()).toBe(SVG);
    expect(logo.headers.get('content-type')).toBe('image/svg+xml');
    expect(logo.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(logo.headers.get('content-security-policy')).toContain('sandbox');
    visitor = await Visitor.open(browser, service.url);
    const opened = await visitor.page.context().newPage();
    await opened.goto(`${service.url}/${path}`);
    expect(await opened.title()).not.toBe('owned');
  });
});
