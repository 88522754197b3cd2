import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { calls, says, ScriptedService } from './scripted-service.js';
import { faultsOf, findingsOf } from './visitor.js';

const TOKEN = 'the-token-of-the-operator';
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

let service: ScriptedService;
let browser: Browser;
let page: Page;
let faults: readonly string[];

async function open(options: BrowserContextOptions = {}): Promise<void> {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  faults = faultsOf(page, service.url);
  await page.goto(`${service.url}/admin`);
}

async function enter(options: BrowserContextOptions = {}): Promise<void> {
  await open(options);
  await page.getByLabel('Admin token').fill(TOKEN);
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.getByText('Turns running').waitFor();
}

const show = (pane: string) => page.getByRole('link', { name: pane, exact: true }).click();
/** The name that the log and the view give a session. */
const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 8);
const row = (text: string) => page.getByRole('row').filter({ hasText: text });

/** A message over the legacy API, answered to its end. */
async function talk(text: string, client: string): Promise<string> {
  const session = randomUUID();
  const answer = await fetch(`${service.url}/legacy/api/thread/chat`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, 'User-Agent': client },
    body: JSON.stringify({ text }),
  });
  expect(await answer.text()).toContain('"complete"');
  return session;
}

describeWithBrowser('the operator’s view', () => {
  beforeAll(async () => {
    const limits = 'limits: { session: { turnsPerDay: 1000 } }\n';
    [service, browser] = await Promise.all([
      ScriptedService.start({ ADMIN_TOKEN: TOKEN }, limits),
      launchBrowser(),
    ]);
  });
  afterEach(async () => {
    await page.context().close();
    expect(faults).toEqual([]);
  });
  afterAll(() => service.close());

  it('asks for the token, refuses another, and forgets it when left', async () => {
    await open();
    await page.getByLabel('Admin token').fill('some-other-token-of-mine');
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByText('This is not the ADMIN_TOKEN').waitFor();
    // The browser itself says that of the 401.
    expect(faults).toEqual([expect.stringContaining('401')]);
    await page.context().close();
    await enter();
    await page.reload();
    await page.getByText('Turns running').waitFor();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByLabel('Admin token').waitFor();
    await page.reload();
    await page.getByLabel('Admin token').waitFor();
  });

  it('moves the focus to what the token has opened', async () => {
    await enter();
    await page.getByRole('main', { name: 'Overview' }).and(page.locator(':focus')).waitFor();
    await page.reload();
    await page.getByText('Turns running').waitFor();
    await page.keyboard.press('Tab');
    await page.getByRole('link', { name: 'Overview' }).and(page.locator(':focus')).waitFor();
  });

  it('shows a turn while it runs, and interrupts it', async () => {
    const running = new Gate();
    service.when('Go on', says('This', running, ' never comes'));
    const session = randomUUID();
    const headers = { 'X-Session-Id': session };
    await fetch(`${service.url}/api/chat?message=Go%20on`, { method: 'POST', headers });
    await enter();
    await row(nameOf(session)).filter({ hasText: 'running' }).waitFor();
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await page.getByText('Nothing runs.').waitFor();
    running.open();
    const state = await fetch(`${service.url}/api/state`, { headers });
    expect(await state.text()).toContain('"is_processing":false');
    await page.getByText(/\d+ ended, 0 of them failed/).waitFor();
  });

  it('shows what failed, in the words that the user got', async () => {
    service.when('Fail', (reply) => {
      reply.json(400, { error: { message: 'no' } });
    });
    const headers = { 'X-Session-Id': randomUUID(), Prefer: 'wait=30' };
    await fetch(`${service.url}/api/chat?message=Fail`, { method: 'POST', headers });
    await enter();
    await page.getByRole('region', { name: 'Failed lately' }).getByRole('row').nth(1).waitFor();
  });

  it('lists sessions, and deletes one', async () => {
    const session = await talk('Delete me', 'web/1');
    await enter();
    await show('Sessions');
    page.on('dialog', (dialog) => void dialog.accept());
    await row(nameOf(session)).getByRole('button', { name: 'Delete' }).focus();
    await page.keyboard.press('Enter');
    await row(nameOf(session)).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Sessions' }).and(page.locator(':focus')).waitFor();
    expect((await fetch(`${service.url}/api/sessions/${session}`)).status).toBe(404);
  });

  it('shows the ids and dates of tooltips by a tap, too', async () => {
    const session = await talk('Tap me', 'web/1');
    await enter(PHONE);
    await show('Sessions');
    const tip = row(nameOf(session)).getByText(nameOf(session));
    const shown = () =>
      page.evaluate(`getComputedStyle(document.querySelector('[title="${session}"]'), '::after').content`);
    expect(await shown()).toBe('none');
    await tip.tap();
    expect(await shown()).toBe(`"${session}"`);
    await row(nameOf(session))
      .getByText(/ago|now/)
      .tap();
    expect(await shown()).toBe('none');
    await row(nameOf(session)).getByRole('button', { name: 'Read' }).tap();
    await page.getByText(session, { exact: true }).waitFor();
  });

  it('finds a session, shows its conversation, and exports it', async () => {
    const session = await talk('Where is the needle?', 'web/1');
    await talk('Hay', 'web/1');
    await enter();
    await show('Sessions');
    await page.getByRole('searchbox').fill(session.slice(0, 13));
    await page.getByRole('button', { name: 'Search' }).click();
    // The heading and one session.
    await row('Read').nth(2).waitFor({ state: 'detached' });
    await row(nameOf(session)).getByRole('button', { name: 'Read' }).click();
    await page.getByText('Where is the needle?', { exact: true }).last().waitFor();
    expect(await findingsOf(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export Markdown' }).click();
    expect((await download).suggestedFilename()).toBe(`session-${nameOf(session)}.md`);
    await page.getByRole('button', { name: 'Back' }).click();
    await page.getByRole('searchbox').waitFor();
  });

  it('keeps the focus while a conversation is opened, closed and exported by keyboard', async () => {
    const session = await talk('Read me by keys', 'web/1');
    await enter();
    await show('Sessions');
    const read = row(nameOf(session)).getByRole('button', { name: 'Read' });
    const focused = page.locator(':focus');
    await read.focus();
    await page.keyboard.press('Enter');
    await focused.and(page.getByRole('button', { name: 'Back' })).waitFor();
    const released = new Gate();
    await page.route('**/export?*', (route) => released.passed.then(() => route.continue()));
    await page.getByRole('button', { name: 'Export JSON' }).focus();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.waitForRequest('**/export?*').then(() => {
        released.open();
      }),
      page.keyboard.press('Enter'),
    ]);
    expect(download.suggestedFilename()).toMatch(/json$/);
    expect(await focused.textContent()).toBe('Export JSON');
    await page.getByRole('button', { name: 'Back' }).focus();
    await page.keyboard.press('Enter');
    await read.and(focused).waitFor();
    await page.keyboard.press('Enter');
    await focused.and(page.getByRole('button', { name: 'Back' })).waitFor();
    expect(page.url()).not.toContain(session);
    await page.goBack();
    await read.and(focused).waitFor();
    expect(page.url()).toMatch(/#sessions$/);
  });

  it('shows invisible characters of tool calls, and no marks above other rows', async () => {
    service.when('Clock', calls('get_time', { timezone: 'Europe/\u202eBerlin' }), says('I do not know.'));
    const session = await talk('Clock', 'web/1');
    const title = `a${'\u0301'.repeat(30)}\u2069” unchanged?\n\nOK keeps \u202eit`;
    const changed = await fetch(`${service.url}/api/sessions/${session}`, {
      method: 'PATCH',
      body: JSON.stringify({ title }),
    });
    expect(changed.status).toBe(200);
    await enter();
    await show('Sessions');
    const shown = row(nameOf(session));
    await shown.getByText('a\u0301\u0301\u0301\\u0301').waitFor();
    const question = new Promise((resolve) => {
      page.once('dialog', (dialog) => {
        resolve(dialog.message());
        void dialog.dismiss();
      });
    });
    await shown.getByRole('button', { name: 'Delete' }).click();
    expect(await question).toMatch(/^Delete \u2068“[^”\n\u202e\u2069]+”\u2069 with all its messages\?$/);
    await shown.getByRole('button', { name: 'Read' }).click();
    const call = page.locator('.transcript details');
    await call.locator('summary').click();
    expect(await call.innerText()).toContain('"timezone": "Europe/\\u202eBerlin"');
    expect(await call.innerText()).not.toContain('\u202e');
  });

  it('finds sessions by the text of their messages', async () => {
    const session = await talk('The lighthouse is at the cape', 'web/1');
    await talk('Nothing of the kind', 'web/1');
    await enter();
    await show('Sessions');
    await page.getByRole('searchbox').fill('LIGHTHOUSE');
    await page.getByLabel('Search in').selectOption('messages');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('cell', { name: /^(user|assistant): .*lighthouse/ }).waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await row(nameOf(session)).getByRole('button', { name: 'Read' }).click();
    await page.getByText('The lighthouse is at the cape', { exact: true }).last().waitFor();
  });

  it('keeps the search and what it found while a conversation is read', async () => {
    const session = await talk('The harbor is closed in winter', 'web/1');
    await enter();
    await show('Sessions');
    const asked = new Gate();
    const released = new Gate();
    let searches = 0;
    await page.route('**/admin/api/search?*', async (route) => {
      searches++;
      asked.open();
      await released.passed;
      await route.continue();
    });
    await page.getByRole('searchbox').fill('harbor');
    await page.getByLabel('Search in').selectOption('messages');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await asked.passed;
    const status = page.getByRole('status').filter({ hasText: 'Searching…' });
    await status.waitFor();
    released.open();
    await status.waitFor({ state: 'detached' });
    await row(nameOf(session)).getByRole('button', { name: 'Read' }).click();
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText('The harbor is closed in winter', { exact: true }).last().waitFor();
    expect(await page.getByRole('searchbox').count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Back' }).click();
    await row(nameOf(session)).getByRole('button', { name: 'Read' }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('harbor');
    expect(await page.getByLabel('Search in').inputValue()).toBe('messages');
    expect(searches).toBe(1);
  });

  it('makes a key, shows it once, and revokes it', async () => {
    await enter();
    await show('App keys');
    await page.getByLabel('special').check();
    await page.getByLabel('Label').fill('web shop');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const key = await page.locator('.made code').textContent();
    expect(key).toMatch(/^sk-app-/);
    const use = async (): Promise<number> =>
      (await fetch(`${service.url}/api/tools?app=special`, { headers: { 'SERVICE-APP-KEY': String(key) } }))
        .status;
    expect(await use()).toBe(200);
    page.on('dialog', (dialog) => void dialog.accept());
    await row('web shop').getByRole('button', { name: 'Revoke' }).click();
    await row('web shop').filter({ hasText: 'revoked' }).waitFor();
    expect(await use()).toBe(401);
    await page.reload();
    await row('web shop').waitFor();
    expect(await page.content()).not.toContain(String(key));
  });

  it('shows a key that arrives while another pane is open', async () => {
    await enter();
    const isAway = new Gate();
    await page.route('**/admin/api/keys', async (route) => {
      if (route.request().method() === 'POST') await isAway.passed;
      await route.continue();
    });
    await show('App keys');
    await page.getByLabel('special').check();
    await page.getByRole('button', { name: 'Make a key' }).click();
    await show('Use');
    await page.getByRole('region', { name: 'By App and key' }).waitFor();
    isAway.open();
    await page.waitForResponse((response) => response.request().method() === 'POST');
    await show('App keys');
    expect(await page.locator('.made code').textContent()).toMatch(/^sk-app-/);
  });

  it('makes one key of a double click, and keeps the focus when its row changes', async () => {
    await enter();
    await show('App keys');
    const make = page.getByRole('button', { name: 'Make a key' });
    await make.click();
    await page.getByText('Choose at least one App').waitFor();
    await page.getByLabel('special').check();
    await page.getByLabel('Label').fill('twice');
    await make.dblclick();
    await row('twice').waitFor();
    expect(await row('twice').count()).toBe(1);
    expect(await page.locator(':focus').textContent()).toBe('Make a key');
    page.on('dialog', (dialog) => void dialog.accept());
    await row('twice').getByRole('button', { name: 'Revoke' }).focus();
    await page.keyboard.press('Enter');
    await row('twice').filter({ hasText: 'revoked' }).waitFor();
    await page.getByRole('region', { name: 'App keys' }).and(page.locator(':focus')).waitFor();
  });

  it('turns one page of a double click, and keeps the focus at the last page', async () => {
    const sessionOn = (title: string) => ({
      ...{ session: title, session_id: randomUUID(), title, public_key: null, app: null, rig: null },
      ...{ created_at: new Date().toISOString(), updated_at: new Date().toISOString() },
    });
    const clickedTwice = new Gate();
    await enter();
    await page.route('**/admin/api/sessions?*', async (route) => {
      const n = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 1);
      if (n > 1) await clickedTwice.passed;
      await route.fulfill({
        json: { sessions: [sessionOn(`page ${String(n)}`)], next: n < 3 ? String(n + 1) : null },
      });
    });
    await show('Sessions');
    await row('page 1').waitFor();
    const older = page.getByRole('button', { name: 'Older' });
    await older.dblclick();
    clickedTwice.open();
    await row('page 2').waitFor();
    await page.getByRole('button', { name: 'Newer' }).click();
    await row('page 1').waitFor();
    await older.focus();
    for (const n of [2, 3]) {
      await page.keyboard.press('Enter');
      await row(`page ${String(n)}`).waitFor();
    }
    await older.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    expect(await older.getAttribute('aria-disabled')).toBe('true');
  });

  it('says how old its data is while the service does not respond, or something else does', async () => {
    await enter();
    const read = () => page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.route('**/admin/api/**', (route) => route.abort());
    await read();
    const state = / The page shows the state of .*\d:\d\d:\d\d/;
    await page.getByText(new RegExp(`^The service does not respond\\.${state.source}`)).waitFor();
    await page.getByText('Turns running').waitFor();
    await page.locator('.card', { hasText: 'Service' }).getByText('Unknown').waitFor();
    await page.unroute('**/admin/api/**');
    await page.route('**/admin/api/**', (route) => route.fulfill({ status: 502, body: '<h1>No</h1>' }));
    await read();
    await page.getByText(/^The response has status 502 and no message\./).waitFor();
    await page.getByLabel('Last day').check();
    await page.getByText('Turns running').waitFor({ state: 'detached' });
    await page.getByLabel('Last day').and(page.locator(':focus')).waitFor();
    await page.unroute('**/admin/api/**');
    await read();
    await page.getByText(/no message/).waitFor({ state: 'detached' });
    expect(faults.length).toBeGreaterThan(0);
    faults = [];
  });

  it('asks for the token again when the service has another one', async () => {
    await enter();
    await page.route('**/admin/api/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer of-another-day' } }),
    );
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.getByText('The service no longer accepts this token').waitFor();
    await page.getByLabel('Admin token').and(page.locator(':focus')).waitFor();
    expect(faults).toEqual([expect.stringContaining('401')]);
    faults = [];
    await page.unroute('**/admin/api/**');
    await page.getByLabel('Admin token').fill('a token – pasted from elsewhere');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the ADMIN_TOKEN').waitFor();
    await page.getByLabel('Admin token').fill(`${TOKEN} `);
    await page.keyboard.press('Enter');
    await page.getByText('Turns running').waitFor();
  });

  it('names sessions as the log does where it shows how much they have used', async () => {
    const session = await talk('Count me', 'web/1');
    await enter();
    await show('Use');
    const used = page.getByRole('region', { name: 'Used today' });
    await used
      .getByRole('row')
      .filter({ hasText: `session ${nameOf(session)}` })
      .waitFor();
    expect(await used.textContent()).not.toContain(session.slice(0, 8));
  });

  it('says who still uses the legacy API, and judges', async () => {
    await talk('Hello', 'WalletApp/2.1');
    await enter();
    await show('Legacy API');
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText(/^Not yet: \d+ clients? used it in the last 30 days/).waitFor();
    await row('WalletApp').filter({ hasText: 'POST /api/thread/chat' }).waitFor();
    await page.getByLabel('7 days').check();
    await verdict.getByText(/in the last 7 days/).waitFor();
  });

  describe.each([
    ['light, at a desk', { colorScheme: 'light' }],
    ['dark, on a phone', { colorScheme: 'dark', ...PHONE }],
  ] as const)('%s', (_, options) => {
    beforeEach(async () => {
      await talk('Hello', 'WalletApp/2.1');
    });

    it('has no finding of axe, and nothing is too wide', async () => {
      await open(options);
      expect(await findingsOf(page)).toEqual([]);
      await page.context().close();
      await enter(options);
      for (const [pane, part] of [
        ['Overview', 'Running and waiting'],
        ['Sessions', 'Title'],
        ['App keys', 'Make a key'],
        ['Use', 'By App and key'],
        ['Legacy API', 'Who still uses it'],
      ] as const) {
        await show(pane);
        await page.getByText(part, { exact: true }).first().waitFor();
        expect([pane, await findingsOf(page)]).toEqual([pane, []]);
        const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        expect([pane, await page.evaluate(isTooWide)]).toEqual([pane, false]);
      }
    });
  });
});
