import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { findingsOf, Visitor } from './visitor.js';

let service: ScriptedService;
let browser: Browser;
let visitor: Visitor;

const panel = (): Locator => visitor.page.getByRole('complementary', { name: 'Inspector' });
const border = (): Locator => visitor.page.getByRole('separator', { name: 'Width of the inspector' });

async function width(): Promise<number> {
  return Math.round((await panel().boundingBox())?.width ?? 0);
}

describeWithBrowser('The inspector', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([ScriptedService.start(), launchBrowser()]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(() => service.close());

  it('is closed for a visitor, and stays as it was left', async () => {
    visitor = await Visitor.open(browser, service.url);
    const toggle = visitor.button('Inspector');
    expect(await panel().count()).toBe(0);
    await toggle.click();
    await panel().waitFor();
    expect(await findingsOf(visitor.page)).toEqual([]);
    await visitor.page.reload();
    await panel().waitFor();
    await toggle.click();
    await panel().waitFor({ state: 'detached' });
    await visitor.page.reload();
    await visitor.composer.waitFor();
    expect(await panel().count()).toBe(0);
  });

  it('is resized by keys and by the pointer, within bounds, and keeps its width', async () => {
    visitor = await Visitor.open(browser, service.url);
    const { page } = visitor;
    await visitor.button('Inspector').click();
    expect(await width()).toBe(400);
    await border().focus();
    await page.keyboard.press('ArrowLeft');
    expect([await width(), await border().getAttribute('aria-valuenow')]).toEqual([424, '424']);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    expect(await width()).toBe(280);
    await page.keyboard.press('Home');
    expect(await width()).toBe(720);
    expect(await border().getAttribute('aria-valuemax')).toBe('720');

    await page.mouse.move(722, 400);
    await page.mouse.down();
    await page.mouse.move(900, 400, { steps: 4 });
    await page.mouse.up();
    expect(await width()).toBe(540);
    await page.mouse.move(600, 300);
    expect(await width()).toBe(540);
    await page.reload();
    await panel().waitFor();
    expect(await width()).toBe(540);
    await page.setViewportSize({ width: 1240, height: 800 });
    await page.mouse.move(703, 400);
    await page.mouse.down();
    await page.mouse.move(100, 400, { steps: 4 });
    await page.mouse.up();
    expect(await width()).toBe(620);
  });
});
