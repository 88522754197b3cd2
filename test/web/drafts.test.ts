import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { describeWithBrowser, untilInPage } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { denyStorage, type Visitor } from './visitor.js';
import { Visits } from './visits.js';

const visits = new Visits();
const { visit } = visits;

/** Resolves once the message input holds exactly this text. */
function written({ page }: Visitor, text: string): Promise<void> {
  const input = `document.querySelector('textarea[aria-label="Message"]')`;
  return untilInPage(page, `${input}?.value === ${JSON.stringify(text)}`);
}

/** Sends the first message of the open thread, which is then in the list of threads. */
async function begin(visitor: Visitor, words: string): Promise<string> {
  await visitor.say(words);
  await visitor.hears(`You said: ${words}`, 0);
  await visitor.idle();
  await visitor.page.locator('.thread-title[aria-current=page]').waitFor();
  return visitor.sessionId;
}

async function open(visitor: Visitor, sessionId: string): Promise<void> {
  await visitor.page.evaluate(`location.hash = 'session=${sessionId}'`);
  await visitor.questions.first().waitFor();
}

/** Sends a message that does not arrive. Returns the gate at which it waits. */
async function sayInVain(visitor: Visitor, words: string): Promise<Gate> {
  const { page } = visitor;
  const never = new Gate();
  await page.route('**/api/chat*', (route) => never.passed.then(() => route.abort()), { times: 1 });
  await Promise.all([page.waitForRequest('**/api/chat*'), visitor.say(words)]);
  return never;
}

/** The texts that the tab stores. */
function stored({ page }: Visitor): Promise<unknown> {
  return page.evaluate(
    `Object.keys(sessionStorage).filter((name) => name.startsWith('diptych.draft.')).map((name) => JSON.parse(sessionStorage[name]).text)`,
  );
}

describeWithBrowser('Drafts', () => {
  visits.serve();

  it('survive a reload, in the thread where they were written', async () => {
    const visitor = await visit();
    const { page, composer } = visitor;
    await composer.fill('Of a new thread');
    await page.reload();
    await written(visitor, 'Of a new thread');
    const first = await begin(visitor, 'One');
    await composer.fill('Of the first');
    await visitor.button('New thread').click();
    await written(visitor, '');
    await begin(visitor, 'Two');
    await composer.fill('Of the second');
    await page.reload();
    await written(visitor, 'Of the second');
    await open(visitor, first);
    await written(visitor, 'Of the first');
  });

  it('of a new thread return when a new thread is opened', async () => {
    const visitor = await visit();
    const first = await begin(visitor, 'One');
    await visitor.button('New thread').click();
    await written(visitor, '');
    await visitor.composer.fill('Half a question');
    const second = visitor.sessionId;
    await open(visitor, first);
    await written(visitor, '');
    await visitor.button('New thread').click();
    await written(visitor, 'Half a question');
    expect(visitor.sessionId).toBe(second);
    // With that thread open, the next new thread is empty.
    await visitor.button('New thread').click();
    await written(visitor, '');
    expect(visitor.sessionId).not.toBe(second);
  });

  it('of a thread that was opened by a link are not those of a new thread', async () => {
    const visitor = await visit();
    const first = await begin(visitor, 'One');
    const linked = randomUUID();
    await visitor.page.evaluate(`location.hash = 'session=${linked}'`);
    await visitor.page.getByRole('region', { name: 'Opened by a link' }).waitFor();
    await visitor.composer.fill('For those who read along');
    await open(visitor, first);
    await visitor.button('New thread').click();
    await written(visitor, '');
    expect(visitor.sessionId).not.toBe(linked);
  });

  it('are removed once they were sent', async () => {
    const visitor = await visit();
    await begin(visitor, 'One');
    expect(await stored(visitor)).toEqual([]);
    await visitor.page.reload();
    await visitor.hears('You said: One', 0);
    expect(await visitor.composer.inputValue()).toBe('');
  });

  it.each(['current', 'legacy'])(
    'of an edited message survive other threads and a reload: %s',
    async (surface) => {
      const visitor = await visit({ fragment: `surface=${surface}` });
      const { page } = visitor;
      const first = await begin(visitor, 'One');
      const edit = visitor.button('Edit message');
      const editor = page.getByRole('textbox', { name: 'Edit message' });
      await edit.press('Enter');
      await editor.fill('One, but better');
      await visitor.button('New thread').click();
      await editor.waitFor({ state: 'detached' });
      await open(visitor, first);
      await untilInPage(page, `document.querySelector('.editor textarea')?.value === 'One, but better'`);
      await page.reload();
      await untilInPage(page, `document.querySelector('.editor textarea')?.value === 'One, but better'`);
      await page.locator('[aria-label=Message]:focus').waitFor();
      await editor.press('Escape');
      await edit.waitFor();
      expect(await stored(visitor)).toEqual([]);

      await edit.press('Enter');
      expect(await editor.inputValue()).toBe('One');
      await editor.fill('Two');
      await editor.press('Enter');
      await visitor.hears('You said: Two', 0);
      await visitor.idle();
      await open(visitor, first);
      await edit.waitFor();
      expect(await stored(visitor)).toEqual([]);
    },
  );

  it.each(['current', 'legacy'])(
    'are sent again when the service has asked to wait, and the page says so: %s',
    async (surface) => {
      const visitor = await visit({ fragment: `surface=${surface}` });
      const { page } = visitor;
      const busy = { status: 429, headers: { 'Retry-After': '3' }, body: '{"error":"too many requests"}' };
      await page.route(/\/chat(\?|$)/, (route) => route.fulfill(busy), { times: 1 });
      await visitor.say('Later');
      const status = page.getByRole('status');
      await status.filter({ hasText: 'Not sent yet: the service has asked to wait.' }).waitFor();
      await page.getByText(/^Sending again in [123] s\.$/).waitFor();
      expect(await page.locator('.working').count()).toBe(0);
      expect(await status.filter({ hasText: 'answering' }).count()).toBe(0);
      await visitor.hears('You said: Later', 0);
      await visitor.idle();
      expect(await page.getByText('Not sent yet').count()).toBe(0);
      visitor.excuse(/status of 429/);
    },
  );

  it('are restored when the service refuses them, also after a reload', async () => {
    const visitor = await visit();
    await begin(visitor, 'One');
    await visitor.page.route('**/api/chat*', (route) => route.fulfill({ status: 403, body: '{}' }));
    await visitor.say('Refused');
    await written(visitor, 'Refused');
    await visitor.page.reload();
    await written(visitor, 'Refused');
    visitor.excuse(/status of 403/);
  });

  it('are restored when the page is reloaded before the service has accepted them', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor, 'One');
    const never = await sayInVain(visitor, 'On its way');
    await visitor.composer.fill('And the next');
    await page.reload();
    await written(visitor, 'On its way\n\nAnd the next');
    never.open();
  });

  it('are restored even if an earlier message has the same text', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor, 'Go on');
    const never = await sayInVain(visitor, 'Go on');
    await page.reload();
    await written(visitor, 'Go on');
    never.open();
  });

  it('are not restored when the service had accepted them', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor, 'One');
    const [arrived, never] = [new Gate(), new Gate()];
    await page.route(
      '**/api/chat*',
      async (route) => {
        await route.fetch();
        arrived.open();
        await never.passed;
        await route.abort();
      },
      { times: 1 },
    );
    await visitor.say('It has arrived');
    await arrived.passed;
    await visitor.composer.fill('And the next');
    await page.reload();
    await visitor.hears('You said: It has arrived', 1);
    await visitor.idle();
    await untilInPage(page, `!JSON.stringify({ ...sessionStorage }).includes('It has arrived')`);
    await written(visitor, 'And the next');
    never.open();
  });

  it('are forgotten with their thread, and with everything', async () => {
    const visitor = await visit();
    const { page, composer } = visitor;
    const first = await begin(visitor, 'One');
    await composer.fill('Of the first');
    await visitor.button('New thread').click();
    await written(visitor, '');
    await composer.fill('Of a new thread');
    expect(await stored(visitor)).toEqual(expect.arrayContaining(['Of the first', 'Of a new thread']));
    await page.getByRole('button', { name: /^Delete/ }).click();
    await visitor.button('Forget on this device').click();
    await page.locator('.thread-title').waitFor({ state: 'detached' });
    expect(await stored(visitor)).toEqual(['Of a new thread']);
    await open(visitor, first);
    await written(visitor, '');
    await visitor.button('New thread').click();
    await written(visitor, 'Of a new thread');
    await begin(visitor, 'Two');

    await composer.fill('Of the second');
    await page.evaluate("document.body.dataset.old = 'yes'");
    await visitor.button('Forget all on this device').click();
    await visitor.button('Forget all').click();
    await page.locator('body:not([data-old])').waitFor();
    await composer.waitFor();
    expect(await composer.inputValue()).toBe('');
    expect(await stored(visitor)).toEqual([]);
  });

  it.each([
    { surface: 'current', first: 'stream' },
    { surface: 'legacy', first: 'stream' },
    { surface: 'legacy', first: 'state' },
  ])('stay when the $first of the $surface surface shows that the thread was deleted', async (shown) => {
    const visitor = await visit({ fragment: `surface=${shown.surface}` });
    const { page, composer } = visitor;
    const session = await begin(visitor, 'One');
    await composer.fill('Half a question');
    const held = new Gate();
    if (shown.first === 'state')
      await page.route('**/thread/updates', (route) => held.passed.then(() => route.continue()));
    await fetch(`${visits.service.url}/current/api/sessions/${session}`, { method: 'DELETE' });
    if (shown.first === 'state') await visitor.questions.first().waitFor({ state: 'detached' });
    held.open();
    await page.getByRole('alert').filter({ hasText: 'no longer on the service' }).waitFor();
    await written(visitor, 'Half a question');
    await composer.press('Enter');
    await visitor.hears('You said: Half a question', 0);
    expect(visitor.sessionId).not.toBe(session);
    visitor.excuse(/status of 404/);
  });

  it('are not restored to a thread that was forgotten while they were sent', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor, 'One');
    const refused = new Gate();
    await page.route(
      '**/api/chat*',
      (route) => refused.passed.then(() => route.fulfill({ status: 403, body: '{}' })),
      { times: 1 },
    );
    await Promise.all([page.waitForRequest('**/api/chat*'), visitor.say('On its way')]);
    await page.getByRole('button', { name: /^Delete/ }).click();
    await visitor.button('Forget on this device').click();
    await written(visitor, '');
    const response = page.waitForResponse('**/api/chat*');
    refused.open();
    await (await response).finished();
    await begin(visitor, 'Two');
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('On its way');
    visitor.excuse(/status of 403/);
  });

  it('are bounded: the oldest are removed, and a text that is too long stays in memory', async () => {
    const many = Array.from({ length: 60 }, (_, n): [string, string] => [
      `diptych.draft.${randomUUID()}`,
      JSON.stringify({ text: `Number ${String(n)}`, sending: [], at: n }),
    ]);
    const visitor = await visit({
      prepare: (context) =>
        context.addInitScript(
          `if (sessionStorage.length === 0) Object.assign(sessionStorage, ${JSON.stringify(Object.fromEntries(many))})`,
        ),
    });
    await visitor.composer.fill('The newest');
    const texts = await stored(visitor);
    expect(texts).toHaveLength(50);
    expect(texts).toEqual(expect.arrayContaining(['The newest', 'Number 59']));
    expect(texts).not.toContain('Number 10');

    await visitor.composer.fill('x'.repeat(150_000));
    expect(await stored(visitor)).toHaveLength(49);
    const { sessionId } = visitor;
    await visitor.button('New thread').click();
    await written(visitor, '');
    await visitor.page.evaluate(`location.hash = 'session=${sessionId}'`);
    await untilInPage(visitor.page, `document.querySelector('[aria-label=Message]').value.length === 150000`);
  });

  it('survive a reload beside an edited message that is too long to store', async () => {
    const visitor = await visit();
    await begin(visitor, 'One');
    await visitor.composer.fill('And the next');
    await visitor.button('Edit message').click();
    await visitor.page.getByRole('textbox', { name: 'Edit message' }).fill('x'.repeat(150_000));
    await visitor.page.reload();
    await visitor.button('Edit message').waitFor();
    await written(visitor, 'And the next');
  });

  it('are read from a storage with invalid values', async () => {
    const session = randomUUID();
    const values = {
      [`diptych.draft.${session}`]: JSON.stringify({
        text: 'Fine',
        sending: [7, { after: 1 }, { text: 'Sent', after: 'One' }],
        edit: { messageId: 7, text: 'Of no message' },
        at: 'soon',
      }),
      [`diptych.draft.${randomUUID()}`]: '{ no JSON',
      [`diptych.draft.${randomUUID()}`]: JSON.stringify({ text: 7 }),
      'diptych.draft.<img src=x>': JSON.stringify({ text: 'Of no session', at: 1 }),
      'diptych.new-thread': 'no session',
    };
    const visitor = await visit({
      fragment: `session=${session}`,
      prepare: (context) => context.addInitScript(`Object.assign(sessionStorage, ${JSON.stringify(values)})`),
    });
    await written(visitor, 'Sent\n\nFine');
    await visitor.button('New thread').click();
    await written(visitor, '');
  });

  it.each([
    ['denied', denyStorage],
    [
      'full',
      (context: Parameters<typeof denyStorage>[0]) =>
        context.addInitScript(
          `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`,
        ),
    ],
  ])('stay in memory while the storage is %s', async (_, prepare) => {
    const visitor = await visit({ prepare });
    const { sessionId } = visitor;
    await visitor.composer.fill('Half a question');
    await visitor.button('New thread').click();
    await written(visitor, '');
    await visitor.page.goBack();
    await written(visitor, 'Half a question');
    expect(visitor.sessionId).toBe(sessionId);
    await visitor.composer.press('Enter');
    await visitor.hears('You said: Half a question', 0);
    await visitor.idle();
    await written(visitor, '');
  });
});
