import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { says, ScriptedService } from './scripted-service.js';
import { Visitor } from './visitor.js';

let service: ScriptedService;
let browser: Browser;

describeWithBrowser('the page over a crash of the service', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([ScriptedService.start(), launchBrowser()]);
  });
  afterAll(() => service.close());

  it('goes on in the middle of an answer without a reload, with nothing lost and nothing doubled', async () => {
    const never = new Gate();
    const surfaces = ['current', 'legacy'] as const;
    const visitors = await Promise.all(
      surfaces.map((surface) =>
        Visitor.open(browser, service.url, { fragment: `surface=${surface}`, mayBeAway: true }),
      ),
    );
    await Promise.all(
      visitors.map(async (visitor, n) => {
        const words = `Tell me of ${String(n)}`;
        service.when(words, says('One two', never), says('One two', ' three', ' four.'));
        await visitor.page.evaluate('globalThis.isSamePage = true');
        await visitor.say('Before');
        await visitor.hears('You said: Before', 0);
        await visitor.say(words);
        await visitor.hears('One two', 1);
      }),
    );
    await service.kill();
    await Promise.all(visitors.map(({ page }) => page.getByText('Reconnecting', { exact: true }).waitFor()));
    await Promise.all(
      visitors.map(async (visitor) => {
        await visitor.button('Interrupt').click();
        await visitor.page.locator('.problem').filter({ hasText: 'cannot be reached' }).waitFor();
      }),
    );
    await service.restart();
    await Promise.all(
      visitors.map(async (visitor) => {
        await visitor.page.getByText('Connected', { exact: true }).waitFor();
        await visitor.page.locator('.problem').waitFor({ state: 'detached' });
        await visitor.hears('One two three four.', 1);
        await visitor.idle();
        expect(await visitor.answers.nth(1).locator('.markdown').allInnerTexts()).toEqual([
          'One two three four.',
        ]);
        expect(await visitor.questions.count()).toBe(2);
        await visitor.say('After');
        await visitor.hears('You said: After', 2);
        await visitor.idle();
        expect(await visitor.answers.count()).toBe(3);
        expect(await visitor.page.evaluate('globalThis.isSamePage')).toBe(true);
        await visitor.leave();
        expect(visitor.faults).toEqual([]);
      }),
    );
    never.open();
  });

  it('says why a thread is empty while the service is away, and that a message is not sent yet', async () => {
    const visitor = await Visitor.open(browser, service.url, { mayBeAway: true });
    const { page } = visitor;
    await visitor.say('Before');
    await visitor.hears('You said: Before', 0);
    await visitor.idle();
    await page.getByRole('heading', { level: 1, name: 'A made-up title' }).waitFor();
    await visitor.button('New thread').click();
    await page.getByRole('heading', { level: 1, name: 'New Chat' }).waitFor();
    await service.kill();
    await page.getByRole('button', { name: 'A made-up title', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'A made-up title' }).waitFor();
    const waiting = page.getByText('The messages are shown once the service can be reached.');
    await waiting.waitFor();
    await visitor.say('Meanwhile');
    const unsent = page.getByRole('status').filter({ hasText: 'Not sent yet' });
    await unsent.waitFor();
    await service.restart();
    await visitor.hears('You said: Before', 0);
    await waiting.waitFor({ state: 'detached' });
    await visitor.hears('You said: Meanwhile', 1);
    await visitor.idle();
    expect(await unsent.count()).toBe(0);
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
});
