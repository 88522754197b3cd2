import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { findingsOf, Visitor } from './visitor.js';

const VALUE = 'vendor-123456789';

let service: ScriptedService;
let browser: Browser;
let visitor: Visitor;

/** Selects the App `vendor` with its key. */
async function selectVendor(by = visitor): Promise<void> {
  const { page } = by;
  const key = await service.appKey('vendor');
  await by.openSection('Assistant');
  await page.getByLabel('App key').fill(key);
  await page.getByLabel('App key').press('Enter');
  await page.locator('option', { hasText: 'vendor' }).waitFor({ state: 'attached' });
  await page.getByLabel('App', { exact: true }).selectOption('vendor');
}

describeWithBrowser('The assistant section', () => {
  beforeAll(async () => {
    const slots = `[{ name: API_KEY, description: The key of the vendor, required: true }, { name: OTHER }]`;
    [service, browser] = await Promise.all([
      ScriptedService.start({}, { apps: `  - { name: default }\n  - { name: vendor, secrets: ${slots} }\n` }),
      launchBrowser(),
    ]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(() => service.close());

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    it('stores the secrets of an App, uses them, and removes them; no value is kept in the browser', async () => {
      visitor = await Visitor.open(browser, service.url, { fragment: `surface=${surface}` });
      visitor.excuse(/status of 400/);
      const { page } = visitor;
      await selectVendor();
      const field = page.getByLabel('API_KEY (required)');
      await field.waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await visitor.say('Without');
      const refusal = page.getByRole('alert').filter({ hasText: 'needs a secret in: API_KEY' });
      await refusal.filter({ hasText: 'Store it in the section Assistant of this page' }).waitFor();
      expect(await refusal.innerText()).not.toContain('/api');
      await field.fill(VALUE);
      await field.press('Enter');
      await visitor.button('Remove API_KEY').waitFor();
      expect(await page.getByLabel('API_KEY', { exact: true }).inputValue()).toBe('');
      await visitor.say('With it');
      await visitor.hears('You said: With it', 0);
      await visitor.idle();
      const shown = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      expect(shown).not.toContain(VALUE);
      await visitor.openTab('Requests');
      expect(await page.locator('body').innerText()).not.toContain(VALUE);

      await page.reload();
      await visitor.button('Remove API_KEY').click();
      await page.getByLabel('API_KEY (required)').waitFor();
      await visitor.say('Without again');
      await page.getByRole('alert').filter({ hasText: 'needs a secret in: API_KEY' }).waitFor();
    });
  });

  it('does not lend the secrets to a thread of a link', async () => {
    visitor = await Visitor.open(browser, service.url);
    visitor.excuse(/status of 400/);
    await selectVendor();
    await visitor.page.getByLabel('API_KEY (required)').fill(VALUE);
    await visitor.button('Store API_KEY').click();
    await visitor.button('Remove API_KEY').waitFor();
    await visitor.page.evaluate(`location.hash = '#session=${randomUUID()}'`);
    await visitor.page.getByText('Your secrets are not used in this thread').waitFor();
    await visitor.say('Of the link');
    await visitor.page.getByRole('alert').filter({ hasText: 'needs a secret in: API_KEY' }).waitFor();
  });

  it('uses one client id in all tabs, also in those that were open before', async () => {
    visitor = await Visitor.open(browser, service.url);
    await selectVendor();
    const other = await Visitor.inTab(await visitor.page.context().newPage(), service.url);
    // It has the App, but not yet the key, which stays in its tab.
    other.excuse(/status of 401/);
    await selectVendor(other);
    await visitor.page.getByLabel('API_KEY (required)').fill(VALUE);
    await visitor.button('Store API_KEY').click();
    await visitor.button('Remove API_KEY').waitFor();
    await other.button('Remove API_KEY').waitFor();
    await other.page.getByLabel('OTHER', { exact: true }).fill(VALUE);
    await other.button('Store OTHER').click();
    await other.button('Remove OTHER').waitFor();
    for (const { page } of [visitor, other]) {
      await page.reload();
      await page.getByRole('button', { name: 'Remove OTHER' }).waitFor();
      await page.getByRole('button', { name: 'Remove API_KEY' }).waitFor();
    }
    expect(other.faults).toEqual([]);
  });

  it('takes the client id that another tab has just made', async () => {
    visitor = await Visitor.open(browser, service.url);
    await selectVendor();
    await visitor.page.getByLabel('API_KEY (required)').fill(VALUE);
    // A change by the same document has no event: as if that of another tab were still on its way.
    const id = randomUUID();
    await visitor.page.evaluate(`localStorage['diptych.client'] = '${id}'`);
    await visitor.button('Store API_KEY').click();
    await visitor.button('Remove API_KEY').waitFor();
    expect(await visitor.page.evaluate("localStorage['diptych.client']")).toBe(id);
  });

  it('lists rigs by name, and says which one is in use', async () => {
    visitor = await Visitor.open(browser, service.url);
    await visitor.openSection('Assistant');
    const rig = visitor.page.getByLabel('Rig');
    await rig.getByRole('option', { name: 'The second' }).waitFor({ state: 'attached' });
    expect(await rig.getByRole('option').allInnerTexts()).toEqual([
      'scripted',
      'The second',
      'Demo (offline)',
    ]);
    await rig.selectOption({ label: 'The second' });
    await visitor.page.getByRole('button', { name: 'Assistant The second' }).waitFor();
    expect(await rig.inputValue()).toBe('second');
  });
});
