import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContext } from 'playwright-core';
import { describeWithBrowser, untilInPage } from '../support/browser.js';
import { findingsOf } from './visitor.js';
import { Visits } from './visits.js';

const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const visits = new Visits();
const { visit } = visits;

function withWallet(context: BrowserContext): Promise<unknown> {
  return context.addInitScript(`localStorage.setItem('diptych.wallet', '${WALLET}')`);
}

/** The threads that the service lists for the wallet. */
async function boundThreads(): Promise<readonly string[]> {
  const url = `${visits.service.url}/current/api/sessions?public_key=${WALLET}`;
  const listed: unknown = await (await fetch(url, { headers: { 'X-Session-Id': randomUUID() } })).json();
  return Array.isArray(listed) ? listed.map(({ session_id }: { session_id: string }) => session_id) : [];
}

describeWithBrowser('A link to a thread', () => {
  visits.serve();

  it('is shown with what it gives away, and Esc closes only the dialog', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await visitor.button('Share').click();
    const dialog = page.getByRole('dialog', { name: 'Share this thread' });
    await dialog.getByText('Everyone who has this link reads along').waitFor();
    expect(await dialog.getByLabel('Link to the thread').inputValue()).toBe(page.url());
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Share');
  });

  it('says that others read along, to visitors without a wallet too, until they have read it', async () => {
    const fragment = `session=${randomUUID()}`;
    const visitor = await visit({ fragment });
    const notice = visitor.page.getByRole('region', { name: 'Opened by a link' });
    await notice.getByText('Everyone who has the link reads along').waitFor();
    expect(await findingsOf(visitor.page)).toEqual([]);
    await visitor.button('Got it').click();
    await notice.waitFor({ state: 'detached' });
    await visitor.page.reload();
    await visitor.composer.waitFor();
    expect(await notice.count()).toBe(0);
  });

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    const fragmentOf = (session: string) => `session=${session}&surface=${surface}`;

    it('does not take the wallet along: neither unasked, nor when the answer is no', async () => {
      const session = randomUUID();
      const visitor = await visit({ fragment: fragmentOf(session), prepare: withWallet });
      await visitor.button('Use my wallet here').waitFor();
      await visitor.say('Unasked');
      await visitor.hears('You said: Unasked', 0);
      await visitor.idle();
      await visitor.button('Continue without it').click();
      await visitor.say('Without');
      await visitor.hears('You said: Without', 1);
      await visitor.idle();
      await visitor.page.reload();
      await visitor.say('Still without');
      await visitor.hears('You said: Still without', 2);
      await visitor.idle();
      expect(await boundThreads()).not.toContain(session);
      await visitor.openSection('Wallet');
      await visitor.button('Use my wallet in this thread').click();
      await visitor.say('Now with it');
      await visitor.hears('You said: Now with it', 3);
      await visitor.idle();
      expect(await boundThreads()).toContain(session);
    });

    it('does not take it along into a branch of the thread before the answer', async () => {
      const session = randomUUID();
      const visitor = await visit({ fragment: fragmentOf(session), prepare: withWallet });
      await visitor.say('Unasked');
      await visitor.hears('You said: Unasked', 0);
      await visitor.idle();
      await visitor.answers.first().hover();
      await visitor.button('Regenerate').click();
      await untilInPage(visitor.page, `!location.hash.includes('${session}')`);
      await visitor.hears('You said: Unasked', 0);
      await visitor.idle();
      await visitor.button('Use my wallet here').waitFor();
      expect(await boundThreads()).not.toContain(visitor.sessionId);
    });

    it('still asks after the visitor has been in a thread of their own', async () => {
      const session = randomUUID();
      const visitor = await visit({ fragment: fragmentOf(session), prepare: withWallet });
      await visitor.say('Unasked');
      await visitor.hears('You said: Unasked', 0);
      await visitor.idle();
      await visitor.button('New thread').click();
      await visitor.say('Mine');
      await visitor.hears('You said: Mine', 0);
      await visitor.idle();
      await visitor.page.goBack();
      await visitor.button('Use my wallet here').waitFor();
      await visitor.say('Still unasked');
      await visitor.hears('You said: Still unasked', 1);
      await visitor.idle();
      expect(await boundThreads()).not.toContain(session);
    });

    it('takes it along when the answer is yes', async () => {
      const session = randomUUID();
      const visitor = await visit({ fragment: fragmentOf(session), prepare: withWallet });
      await visitor.button('Use my wallet here').click();
      await visitor.say('With it');
      await visitor.hears('You said: With it', 0);
      await visitor.idle();
      expect(await boundThreads()).toContain(session);
    });

    it('is none where the thread is of this browser: new, reloaded, or gone back to', async () => {
      const visitor = await visit({ fragment: `surface=${surface}`, prepare: withWallet });
      const notice = visitor.page.getByRole('region', { name: 'Opened by a link' });
      await visitor.page.reload();
      await visitor.composer.waitFor();
      expect(await notice.count()).toBe(0);
      await visitor.button('New thread').click();
      await visitor.page.goBack();
      await visitor.say('Mine');
      await visitor.hears('You said: Mine', 0);
      await visitor.idle();
      expect(await notice.count()).toBe(0);
      expect(await boundThreads()).toContain(visitor.sessionId);
    });
  });

  it('is one when it is followed within the page, too', async () => {
    const visitor = await visit({ prepare: withWallet });
    await visitor.page.evaluate(`location.hash = '#session=${randomUUID()}'`);
    await visitor.button('Use my wallet here').waitFor();
  });

  it('needs no answer for a thread that is already bound to the wallet', async () => {
    const session = randomUUID();
    await fetch(`${visits.service.url}/current/api/sessions`, {
      method: 'POST',
      headers: { 'X-Session-Id': session, 'Content-Type': 'application/json' },
      body: JSON.stringify({ public_key: WALLET }),
    });
    const visitor = await visit({ fragment: `session=${session}`, prepare: withWallet });
    await visitor.page
      .getByRole('button', { name: /^Rename/ })
      .first()
      .waitFor();
    await visitor.button('Use my wallet here').waitFor({ state: 'detached' });
  });
});
