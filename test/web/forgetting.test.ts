import { describe, expect, it } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { describeWithBrowser, untilInPage } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { denyStorage, Visitor } from './visitor.js';
import { Visits } from './visits.js';

const TOKEN = 'the-token-of-the-operator';

const visits = new Visits();
const { visit } = visits;

/** Opens the page in another tab, and forgets everything there. */
async function forgetAll(context: BrowserContext): Promise<void> {
  const { page } = visits.add(await Visitor.inTab(await context.newPage(), visits.service.url));
  await page.evaluate("document.body.dataset.old = 'yes'");
  await page.getByRole('button', { name: 'Forget all on this device', exact: true }).click();
  await page.getByRole('button', { name: 'Forget all', exact: true }).click();
  await page.locator('body:not([data-old])').waitFor();
  await page.getByText('Threads are kept in this browser').waitFor();
}

/** A visitor with a thread, a draft and an App key. */
async function visitorWithKey(): Promise<Visitor> {
  const key = await visits.service.appKey('special');
  const visitor = await visit({ prepare: canSuspend });
  await visitor.say('Hello');
  await visitor.hears('You said: Hello', 0);
  await visitor.idle();
  await visitor.page.locator('.thread-title').waitFor();
  await visitor.composer.fill('A draft');
  await visitor.openSection('Assistant');
  await visitor.page.getByLabel('App key').fill(key);
  await visitor.page.getByLabel('App key').press('Enter');
  await untilInPage(visitor.page, `sessionStorage['diptych.key'] === '${key}'`);
  return visitor;
}

async function expectNothing(page: Page): Promise<void> {
  await page.locator('body:not([data-old])').waitFor();
  await page.getByText('Threads are kept in this browser').waitFor();
  expect(await page.getByLabel('App key').inputValue()).toBe('');
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('');
  expect(await page.evaluate('Object.keys(sessionStorage)')).not.toContain('diptych.key');
}

/** Lets tests suspend pages: a suspended page receives no events until `pageshow` restores it. */
function canSuspend(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(
    `addEventListener('storage', (event) => { if (globalThis.isSuspended) event.stopImmediatePropagation(); })`,
  );
}
const SUSPEND = 'globalThis.isSuspended = true';
const RESTORE = `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`;

/** Opens the operator's view and enters. */
async function enter(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${visits.service.url}/admin`);
  await page.getByLabel('Admin token').fill(TOKEN);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByText('Turns running').waitFor();
  return page;
}

describeWithBrowser('Forgetting', () => {
  visits.serve(() => ScriptedService.start({ ADMIN_TOKEN: TOKEN }));

  describe('of everything', () => {
    it('reaches a tab that shows another page at that time', async () => {
      const visitor = await visitorWithKey();
      const { page } = visitor;
      await page.goto('about:blank');
      await forgetAll(page.context());
      await page.goto(visits.service.url);
      await visitor.openSection('Assistant');
      await expectNothing(page);
    });

    it('reaches a page in the back-forward cache', async () => {
      const visitor = await visitorWithKey();
      const { page } = visitor;
      await page.evaluate("document.body.dataset.old = 'yes'");
      await page.evaluate(SUSPEND);
      await forgetAll(page.context());
      await page.evaluate(RESTORE);
      await expectNothing(page);
    });

    it('keeps what a tab stores afterwards', async () => {
      const visitor = await visitorWithKey();
      await forgetAll(visitor.page.context());
      await visitor.page.getByText('Threads are kept in this browser').waitFor();
      await visitor.composer.fill('Written afterwards');
      await visitor.page.reload();
      await untilInPage(
        visitor.page,
        `document.querySelector('[aria-label=Message]')?.value === 'Written afterwards'`,
      );
    });
  });

  describe('of the operator’s token', () => {
    it('happens in all tabs when one is left', async () => {
      const context = await visits.browser.newContext();
      await canSuspend(context);
      const [one, other, away, suspended] = [
        await enter(context),
        await enter(context),
        await enter(context),
        await enter(context),
      ];
      await away.goto('about:blank');
      await suspended.evaluate(SUSPEND);
      await one.getByRole('button', { name: 'Leave' }).click();
      for (const page of [one, other]) await page.getByLabel('Admin token').waitFor();
      expect(await suspended.getByText('Turns running').count()).toBe(1);
      await suspended.evaluate(RESTORE);
      await suspended.getByLabel('Admin token').waitFor();
      await away.goto(`${visits.service.url}/admin`);
      await away.getByLabel('Admin token').waitFor();
      // A user who enters again stays.
      await away.getByLabel('Admin token').fill(TOKEN);
      await away.getByRole('button', { name: 'Enter' }).click();
      await away.getByText('Turns running').waitFor();
      await away.reload();
      await away.getByText('Turns running').waitFor();
      await context.close();
    });

    it('keeps the threads, and also happens when the chat page forgets everything', async () => {
      const visitor = await visitorWithKey();
      const context = visitor.page.context();
      const first = await enter(context);
      await first.getByRole('button', { name: 'Leave' }).click();
      await first.getByLabel('Admin token').waitFor();
      expect(await visitor.page.locator('.thread-title').count()).toBe(1);
      expect(await visitor.page.getByLabel('App key').inputValue()).not.toBe('');
      const second = await enter(context);
      await forgetAll(context);
      await second.getByLabel('Admin token').waitFor();
    });

    it('works while the browser denies the storage', async () => {
      const context = await visits.browser.newContext();
      await denyStorage(context);
      const page = await enter(context);
      await page.getByRole('button', { name: 'Leave' }).click();
      await page.getByLabel('Admin token').waitFor();
      await context.close();
    });
  });
});
