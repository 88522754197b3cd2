import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BrowserContext, Locator, Route } from 'playwright-core';
import { describeWithBrowser, untilInPage } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { says } from './scripted-service.js';
import { denyStorage, findingsOf, Visitor } from './visitor.js';
import { Visits } from './visits.js';

const visits = new Visits();
const { visit } = visits;

/** Opens the page without a session in the address, in another tab of the same browser. */
async function visitAgain({ page }: Visitor): Promise<Visitor> {
  return visits.add(await Visitor.inTab(await page.context().newPage(), visits.service.url));
}

/** Begins a thread whose first words are its title, because the model gives every thread the same one. */
async function begin(visitor: Visitor, words: string): Promise<string> {
  // In a thread without questions, nothing would show when the composer of the new thread has replaced the old one.
  if ((await visitor.questions.count()) > 0) {
    await visitor.button('New thread').click();
    await visitor.questions.first().waitFor({ state: 'detached' });
  }
  await visitor.say(words);
  await visitor.hears(`You said: ${words}`, 0);
  await visitor.idle();
  await listed(visitor, 'A made-up title').first().waitFor();
  await rename(visitor, words);
  return visitor.sessionId;
}

async function rename({ page }: Visitor, title: string): Promise<void> {
  await page.getByRole('button', { name: 'Rename A made-up title' }).first().click();
  await page.getByLabel('New title').fill(title);
  await page.getByLabel('New title').press('Enter');
  await page.getByRole('button', { name: title, exact: true }).waitFor();
}

function listed({ page }: Visitor, title: string): Locator {
  return page.getByRole('region', { name: 'Threads' }).getByRole('button', { name: title, exact: true });
}

function titles({ page }: Visitor): Promise<string[]> {
  return page.locator('.thread-title').allInnerTexts();
}

/** A kept request whose outcome the service does not know. */
const REQUEST = JSON.stringify({
  ...{ sessionId: randomUUID(), id: 1, kind: 'transaction', chainId: 1, title: 'Send 1 ETH' },
  ...{ outcome: null, reportedAt: null, at: 1 },
});

/** Puts values into `localStorage` before the page is loaded. */
function stores(values: Readonly<Record<string, string>>) {
  return (context: BrowserContext) =>
    context.addInitScript(
      `if (localStorage.length === 0) Object.assign(localStorage, ${JSON.stringify(values)})`,
    );
}

function kept(title: string, at: number): string {
  return JSON.stringify({ title, at, openedAt: at, walletUse: 'own' });
}

async function send(session: string, message: string): Promise<void> {
  const response = await fetch(`${visits.service.url}/api/chat?message=${encodeURIComponent(message)}`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, Prefer: 'wait=60' },
  });
  expect(await response.json()).toMatchObject({ is_processing: false });
}

describeWithBrowser('The threads of a browser', () => {
  visits.serve();

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    const fragment = `surface=${surface}`;

    it('are listed without a wallet, found by words, opened, and the last one is resumed', async () => {
      const visitor = await visit({ fragment });
      const { page } = visitor;
      const first = await begin(visitor, 'Mushrooms in Zürich');
      const second = await begin(visitor, 'Plans');
      expect(await titles(visitor)).toEqual(['Plans', 'Mushrooms in Zürich']);
      expect(await page.getByRole('region', { name: 'Today' }).count()).toBe(1);

      await page.getByLabel('Search threads').fill('zurich');
      await page.getByText('1 found').waitFor();
      expect(await titles(visitor)).toEqual(['Mushrooms in Zürich']);
      await listed(visitor, 'Mushrooms in Zürich').click();
      await visitor.hears('You said: Mushrooms in Zürich', 0);
      expect(visitor.sessionId).toBe(first);
      await page.getByLabel('Search threads').press('Escape');
      expect(await titles(visitor)).toHaveLength(2);

      const again = await visitAgain(visitor);
      await again.hears('You said: Mushrooms in Zürich', 0);
      expect(again.sessionId).toBe(first);
      expect(second).not.toBe(first);
    });

    it('are forgotten one by one and all at once, while the service keeps them', async () => {
      const visitor = await visit({ fragment });
      const { page } = visitor;
      const first = await begin(visitor, 'One');
      await begin(visitor, 'Two');
      await visitor.button('Delete One').click();
      await visitor.button('Forget on this device').click();
      await listed(visitor, 'One').waitFor({ state: 'detached' });
      expect(await page.locator(':focus').innerText()).toBe('New thread');
      expect(await titles(visitor)).toEqual(['Two']);
      await visitor.button('Forget all on this device').click();
      await visitor.button('Forget all').click();
      await page.getByText('Threads are kept in this browser').waitFor();
      await visitor.answers.waitFor({ state: 'detached' });
      expect(
        await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("thread"))'),
      ).toEqual([]);
      const state = await fetch(`${visits.service.url}/api/state`, { headers: { 'X-Session-Id': first } });
      expect(await state.text()).toContain('You said: One');
    });

    it('are reported and forgotten when the service has deleted them', async () => {
      const visitor = await visit({ fragment });
      const session = await begin(visitor, 'Short-lived');
      await begin(visitor, 'Other');
      await fetch(`${visits.service.url}/current/api/sessions/${session}`, { method: 'DELETE' });
      await listed(visitor, 'Short-lived').click();
      await visitor.page
        .getByRole('alert')
        .filter({ hasText: '“Short-lived” is no longer on the service' })
        .waitFor();
      await listed(visitor, 'Short-lived').waitFor({ state: 'detached' });
      expect(visitor.sessionId).not.toBe(session);
      await visitor.say('And on');
      await visitor.hears('You said: And on', 0);
      visitor.excuse(/status of 404/);
    });
  });

  it('are reported and forgotten when they have expired, and the service knows nothing of them', async () => {
    const session = randomUUID();
    const visitor = await visit({
      prepare: stores({ [`diptych.thread.${session}`]: kept('Long ago', 1) }),
    });
    await visitor.page
      .getByRole('alert')
      .filter({ hasText: '“Long ago” is no longer on the service' })
      .waitFor();
    expect(visitor.sessionId).not.toBe(session);
    expect(await titles(visitor)).toEqual([]);
  });

  it('do not change the direction of the sentences about them', async () => {
    const title = 'Mine \u202Eevil';
    const visitor = await visit({ prepare: stores({ [`diptych.thread.${randomUUID()}`]: kept(title, 1) }) });
    const notice = visitor.page.getByRole('alert').filter({ hasText: 'is no longer on the service' });
    expect(await notice.locator('bdi').textContent()).toBe(title);

    await begin(visitor, 'Other');
    await fetch(`${visits.service.url}/api/sessions/${visitor.sessionId}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    await untilInPage(visitor.page, 'document.title.startsWith("Mine evil")');
    await visitor.button(`Delete ${title}`).click();
    expect(await visitor.page.locator('.removing bdi').textContent()).toBe(title);
  });

  it('keep what is on the screen when somebody deletes the open one', async () => {
    const visitor = await visit();
    const session = await begin(visitor, 'Still here');
    await fetch(`${visits.service.url}/current/api/sessions/${session}`, { method: 'DELETE' });
    await visitor.page.getByRole('alert').filter({ hasText: 'no longer on the service' }).waitFor();
    expect(await visitor.answers.innerText()).toContain('You said: Still here');
    expect(await titles(visitor)).toEqual([]);

    const notice = visitor.page
      .getByRole('alert')
      .filter({ hasText: 'The next message begins a new thread.' });
    await notice.waitFor();
    await visitor.say('And on');
    await notice.waitFor({ state: 'detached' });
    await visitor.hears('You said: And on', 0);
    await visitor.idle();
    expect(await visitor.questions.locator('.plain').allInnerTexts()).toEqual(['And on']);
    expect(visitor.sessionId).not.toBe(session);
    visitor.excuse(/status of 404/);
  });

  it('show no reply as running when somebody deletes the open one', async () => {
    const held = new Gate();
    visits.service.when('At length', says('Half', held));
    const visitor = await visit();
    await visitor.say('At length');
    await visitor.hears('Half', 0);
    const accepted = visitor.page.waitForResponse(/\/api\/chat$/);
    await visitor.say('Next');
    await accepted;
    await visitor.queue.filter({ hasText: 'Next' }).waitFor();
    await fetch(`${visits.service.url}/current/api/sessions/${visitor.sessionId}`, { method: 'DELETE' });
    await visitor.page.getByRole('alert').filter({ hasText: 'no longer on the service' }).waitFor();
    await visitor.idle();
    expect(await visitor.page.locator('.fate').allInnerTexts()).toEqual(['Interrupted', 'Cancelled']);
    expect(await visitor.queue.count()).toBe(0);
    await visitor.page.getByText('Connected', { exact: true }).waitFor();
    held.open();
    visitor.excuse(/status of 404/);
  });

  it('appear and vanish in the other tab, too', async () => {
    const visitor = await visit();
    const other = await visitAgain(visitor);
    await begin(visitor, 'Shared');
    await listed(other, 'Shared').waitFor();
    await begin(other, 'Of the other');
    await listed(visitor, 'Of the other').waitFor();
    await other.button('Delete Shared').click();
    await other.button('Forget on this device').click();
    await listed(visitor, 'Shared').waitFor({ state: 'detached' });
    // The tab in which it is open does not bring it back.
    await visitor.say('Go on');
    await visitor.hears('You said: Go on', 1);
    await visitor.idle();
    expect(await titles(visitor)).toEqual(['Of the other']);
  });

  it('survive a reload in the middle of the first reply', async () => {
    const held = new Gate();
    visits.service.when('Slowly', says('Half', held));
    const visitor = await visit();
    await visitor.say('Slowly');
    await visitor.hears('Half', 0);
    await listed(visitor, 'Slowly').waitFor();
    // The header, too, shows the first words of a thread without a title.
    await visitor.page.getByRole('heading', { level: 1, name: 'Slowly' }).waitFor();
    const again = await visitAgain(visitor);
    await again.hears('Half', 0);
    expect(again.sessionId).toBe(visitor.sessionId);
    held.open();
    await again.idle();
  });

  it('are not those that the service has refused', async () => {
    const visitor = await visit({ prepare: stores({ 'diptych.app': 'special' }) });
    await visitor.say('Let me in');
    await visitor.page.getByRole('alert').filter({ hasText: 'App key' }).first().waitFor();
    expect(await titles(visitor)).toEqual([]);
    visitor.excuse(/status of 401/);
  });

  it('keep what was not sent: texts that were refused, and one that is being written', async () => {
    const visitor = await visit({ prepare: stores({ 'diptych.app': 'special' }) });
    const refusal = visitor.page.getByRole('alert').filter({ hasText: 'App key' }).first();
    await visitor.say('First');
    await refusal.waitFor();
    const written = async (text: string): Promise<void> => {
      await untilInPage(
        visitor.page,
        `document.querySelector('textarea[aria-label="Message"]')?.value === ${JSON.stringify(text)}`,
      );
    };
    await written('First');
    await visitor.composer.fill('First and more');
    await visitor.button('New thread').click();
    await written('');
    await visitor.page.goBack();
    await written('First and more');
    visitor.excuse(/status of 401/);
  });

  it('get a message that is on its way when another thread is opened, or its text back', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor, 'One');
    const leaveWhileSending = async (text: string, arrived: Gate, end: (route: Route) => Promise<void>) => {
      await page.route('**/api/chat*', (route) => arrived.passed.then(() => end(route)), { times: 1 });
      await Promise.all([page.waitForRequest('**/api/chat*'), visitor.say(text)]);
      await visitor.button('New thread').click();
      await visitor.questions.first().waitFor({ state: 'detached' });
    };
    const arrived = new Gate();
    await leaveWhileSending('On its way', arrived, (route) => route.continue());
    arrived.open();
    await listed(visitor, 'One').click();
    await visitor.hears('You said: On its way', 1);
    await visitor.idle();
    expect(await visitor.composer.inputValue()).toBe('');

    const refused = new Gate();
    await leaveWhileSending('Refused', refused, (route) => route.fulfill({ status: 403, body: '{}' }));
    await listed(visitor, 'One').click();
    await visitor.hears('You said: On its way', 1);
    refused.open();
    await untilInPage(page, `document.querySelector('[aria-label=Message]').value === 'Refused'`);
    visitor.excuse(/status of 403/);
  });

  it('are bounded: the oldest make room', async () => {
    const many = Array.from({ length: 520 }, (_, n): [string, string] => [
      `diptych.thread.${randomUUID()}`,
      kept(`Number ${String(n)}`, 1000 + n),
    ]);
    const session = randomUUID();
    await send(session, 'Newest');
    const visitor = await visit({
      prepare: stores(Object.fromEntries(many)),
      fragment: `session=${session}`,
    });
    await listed(visitor, 'A made-up title').waitFor();
    const stored = 'Object.keys(localStorage).filter((key) => key.startsWith("diptych.thread.")).length';
    expect(await visitor.page.evaluate(stored)).toBe(500);
    expect(await listed(visitor, 'Number 519').count()).toBe(1);
    expect(await listed(visitor, 'Number 20').count()).toBe(0);
  });

  it('are read from a storage that somebody has filled with anything', async () => {
    const session = randomUUID();
    await send(session, 'Fine');
    const visitor = await visit({
      prepare: stores({
        [`diptych.thread.${session}`]: kept('Fine', 5),
        [`diptych.thread.${randomUUID()}`]: '{ no JSON',
        [`diptych.thread.${randomUUID()}`]: 'null',
        [`diptych.thread.${randomUUID()}`]: '{"title": 7, "at": 1}',
        [`diptych.thread.${randomUUID()}`]: JSON.stringify({ title: 'x'.repeat(200_000), at: 1 }),
        'diptych.thread.<img src=x onerror=alert(1)>': kept('Not a session', 9),
        [`diptych.thread.${randomUUID()}`]: JSON.stringify({
          title: '<img src=x>',
          at: 'soon',
          openedAt: {},
        }),
        'diptych.inspector': '{"isOpen": 1, "width": "wide"}',
        'diptych.theme': 'purple',
        'diptych.wallet-maker': '\u0000',
      }),
    });
    await visitor.hears('You said: Fine', 0);
    expect(visitor.sessionId).toBe(session);
    expect(await titles(visitor)).toEqual(['A made-up title', '<img src=x>']);
  });

  it('are forgotten with all that the page has stored, in every tab', async () => {
    const visitor = await visit({
      prepare: stores({
        'diptych.wallet': '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        'diptych.client': randomUUID(),
        [`diptych.wallet-request.${randomUUID()}.1`]: REQUEST,
        'diptych.theme': 'dark',
        'another page': 'kept',
      }),
    });
    const other = visits.add(await visitor.another(visits.service.url));
    for (const { page } of [visitor, other])
      await page.evaluate("sessionStorage['diptych.key'] = 'key'; document.body.dataset.old = 'yes'");
    await begin(visitor, 'One');
    await visitor.button('Forget all on this device').click();
    await visitor.page.getByText('It will not learn that.').waitFor();
    await visitor.button('Forget all').click();
    for (const { page } of [visitor, other]) {
      await page.locator('body:not([data-old])').waitFor();
      await page.getByText('Threads are kept in this browser').waitFor();
      expect(await page.getByLabel('Wallet address').inputValue()).toBe('');
      expect(await page.getByRole('button', { name: 'Forget all on this device' }).count()).toBe(0);
      expect(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })')).toEqual([
        'another page',
        // The time of forgetting, and the new thread that is open now.
        ...['diptych.forgotten', 'diptych.new-thread'],
      ]);
    }
  });

  it('are done without when the browser denies the storage', async () => {
    const visitor = await visit({ prepare: denyStorage });
    await visitor.say('Hello');
    await visitor.hears('You said: Hello', 0);
    await visitor.idle();
    await visitor.page.getByRole('button', { name: /^Colors/ }).click();
    await visitor.button('Inspector').click();
    await visitor.page.getByRole('tablist').waitFor();
    await visitor.page.reload();
    await visitor.hears('You said: Hello', 0);
  });

  it.each(['light', 'dark'] as const)(
    'have no finding of axe in %s, with questions open',
    async (colorScheme) => {
      const visitor = await visit({ colorScheme });
      await begin(visitor, 'One');
      await begin(visitor, 'Two');
      await visitor.page.getByLabel('Search threads').fill('o');
      await visitor.button('Delete One').click();
      await visitor.button('Forget all on this device').click();
      expect(await findingsOf(visitor.page)).toEqual([]);
      await visitor.page.keyboard.press('Escape');
    },
  );
});
