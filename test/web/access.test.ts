import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { calls, says, ScriptedService } from './scripted-service.js';
import { findingsOf, Visitor } from './visitor.js';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

let service: ScriptedService;
let browser: Browser;
let visitor: Visitor;

const findings = (): Promise<string[]> => findingsOf(visitor.page);

/** The parts that are wider than their place, of the page itself too. */
function overflowing(): Promise<unknown> {
  return visitor.page.evaluate(
    `[...document.querySelectorAll('html, .side, .tabs, .viewport, .tab-panel')].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.className)`,
  );
}

/** A thread with everything in it: Markdown, an open tool call, a running answer, waiting messages. */
async function fill(running: Gate): Promise<void> {
  service.when(
    'Add',
    calls('calculate', { expression: '20+22' }),
    says('It is `42`.\n\n| a | b |\n|---|---|\n| 1 | 2 |'),
  );
  service.when('Go on', says('This', running));
  await visitor.say('Add');
  await visitor.hears('It is 42.', 0);
  await visitor.idle();
  await visitor.page.locator('details.tool summary').click();
  await visitor.say('Go on');
  await visitor.hears('This', 1);
  await visitor.say('Wait');
  await visitor.queue.filter({ hasText: 'Wait' }).waitFor();
}

describeWithBrowser('the page for everybody', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([ScriptedService.start(), launchBrowser()]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(() => service.close());

  describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
    it('has no finding of axe at a desk, whatever the inspector shows', async () => {
      const running = new Gate();
      visitor = await Visitor.open(browser, service.url, { colorScheme });
      expect(await findings()).toEqual([]);
      await visitor.openSection('Wallet');
      await visitor.openSection('Assistant');
      await visitor.page.getByLabel('Wallet address').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
      await fill(running);
      await visitor.page
        .getByRole('button', { name: /^Rename/ })
        .first()
        .waitFor();
      expect(await overflowing()).toEqual([]);
      for (const tab of ['Requests', 'Events', 'Snapshot', 'User state']) {
        await visitor.openTab(tab);
        expect(await findings()).toEqual([]);
        expect(await overflowing()).toEqual([]);
      }
      running.open();
    });

    it('has no finding of axe on a phone, with its drawers open too', async () => {
      const running = new Gate();
      visitor = await Visitor.open(browser, service.url, { ...PHONE, colorScheme });
      await fill(running);
      expect(await findings()).toEqual([]);
      for (const side of ['Threads and assistant', 'Inspector']) {
        await visitor.button(side).click();
        await visitor.page.getByRole('complementary', { name: side }).waitFor();
        expect(await findings()).toEqual([]);
        expect(await overflowing()).toEqual([]);
        await visitor.button('Close').click();
      }
      expect(await overflowing()).toEqual([]);
      running.open();
    });
  });

  it('shows the whole title of a thread on a phone, and the surfaces in the drawer', async () => {
    const title = 'How to grow oyster mushrooms in a cellar';
    visitor = await Visitor.open(browser, service.url, PHONE);
    const { page } = visitor;
    await visitor.say('Hello');
    await visitor.hears('You said: Hello', 0);
    await visitor.idle();
    await page.getByRole('heading', { level: 1, name: 'A made-up title' }).waitFor();
    await visitor.button('Threads and assistant').click();
    await page.getByRole('button', { name: /^Rename/ }).click();
    await page.getByLabel('New title').fill(title);
    await page.getByLabel('New title').press('Enter');
    await page.getByRole('button', { name: title, exact: true }).waitFor();
    await page.getByRole('radio', { name: 'legacy' }).check({ force: true });
    await page.waitForURL(/surface=legacy/);
    await visitor.button('Close').click();
    const heading = page.getByRole('heading', { level: 1, name: title });
    await heading.waitFor();
    const cut = (part: {
      scrollHeight: number;
      clientHeight: number;
      scrollWidth: number;
      clientWidth: number;
    }) => part.scrollHeight > part.clientHeight || part.scrollWidth > part.clientWidth;
    expect(await heading.evaluate(cut)).toBe(false);
    expect(await overflowing()).toEqual([]);
  });

  it('is worked by keys: Shift+Enter, Enter, drawers that give the focus back, Esc for the drawer first', async () => {
    const running = new Gate();
    visitor = await Visitor.open(browser, service.url, { viewport: { width: 390, height: 844 } });
    const { page, composer } = visitor;
    service.when('One\nline', says('Still', running));
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('aria-label')).toBe('Message');
    await page.keyboard.type('One');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('line');
    expect(await composer.inputValue()).toBe('One\nline');
    await page.keyboard.press('Enter');
    await visitor.hears('Still', 0);
    expect(await composer.inputValue()).toBe('');

    const opener = visitor.button('Threads and assistant');
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    expect(await focused.getAttribute('aria-label')).toBe('Close');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(await focused.getAttribute('aria-label')).toBe('Threads and assistant');
    expect(await visitor.button('Interrupt').count()).toBe(1);
    await page.keyboard.press('Escape');
    await visitor.idle();
    running.open();
  });

  it.each([
    ['zoom of 200 %', { width: 640, height: 360 }],
    ['zoom of 400 %', { width: 320, height: 256 }],
  ])('shows the buttons of a long message at a %s', async (_, viewport) => {
    const running = new Gate();
    service.when('Go on', says('This', running));
    visitor = await Visitor.open(browser, service.url, { viewport });
    await visitor.say('Go on');
    await visitor.hears('This', 0);
    await visitor.composer.fill('line\n'.repeat(20));
    for (const name of ['Queue', 'Interrupt']) {
      const box = await visitor.button(name).boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(viewport.height);
    }
    running.open();
  });

  it('announces to a screen reader that a reply has begun, and the reply once it is complete', async () => {
    const running = new Gate();
    visitor = await Visitor.open(browser, service.url);
    service.when('Say', says('First half,', running, ' second half.'));
    const status = visitor.page.getByRole('status');
    await visitor.say('Say');
    await visitor.hears('First half,', 0);
    await status.filter({ hasText: 'The assistant is answering' }).waitFor({ state: 'attached' });
    running.open();
    await status.filter({ hasText: 'First half, second half.' }).waitFor({ state: 'attached' });
  });

  it.each(['current', 'legacy'])('announces once that a reply was interrupted: %s', async (surface) => {
    const never = new Gate();
    visitor = await Visitor.open(browser, service.url, { fragment: `surface=${surface}` });
    const { page } = visitor;
    service.when('Say', says('First half,', never));
    await visitor.say('Say');
    await visitor.hears('First half,', 0);
    await page.evaluate(`{
      const status = document.querySelector('[role=status]');
      window.announced = [];
      new MutationObserver(() => announced.push(status.textContent)).observe(status, { subtree: true, characterData: true, childList: true });
    }`);
    await page.keyboard.press('Escape');
    await visitor.idle();
    await page.getByRole('status').filter({ hasText: 'Interrupted' }).waitFor({ state: 'attached' });
    // The page may learn from a later response that the reply was interrupted.
    const announced = String(await page.evaluate(`announced.join(' | ')`));
    expect(announced).toMatch(/^(First half, \| Interrupted|Interrupted\. First half,)$/);
    never.open();
  });

  it('keeps the chosen colors', async () => {
    visitor = await Visitor.open(browser, service.url, { colorScheme: 'light' });
    const paper = 'getComputedStyle(document.body).backgroundColor';
    const light = await visitor.page.evaluate(paper);
    const toggle = visitor.page.getByRole('button', { name: /^Colors/ });
    await toggle.click();
    await toggle.click();
    const dark = await visitor.page.evaluate(paper);
    expect(dark).not.toBe(light);
    await visitor.page.reload();
    await visitor.composer.waitFor();
    expect(await visitor.page.evaluate(paper)).toBe(dark);
  });
});

describeWithBrowser('the page of a service with one surface', () => {
  let legacy: ScriptedService;
  beforeAll(async () => {
    [legacy, browser] = await Promise.all([ScriptedService.start({ SURFACES: 'legacy' }), launchBrowser()]);
  });
  afterAll(() => legacy.close());

  it('offers that one alone, whatever the address says', async () => {
    visitor = await Visitor.open(browser, legacy.url, { fragment: 'surface=current' });
    expect(await visitor.page.getByRole('radio').count()).toBe(1);
    await visitor.page.waitForURL(/surface=legacy/);
    await visitor.say('Hello');
    await visitor.hears('You said: Hello', 0);
    await visitor.idle();
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
});
