import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { describeWithBrowser, untilInPage } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { calls, says } from './scripted-service.js';
import { findingsOf } from './visitor.js';
import { Visits } from './visits.js';

const RICH = [
  'Look: $e^{i\\pi}$ costs $5 or $10.\n\n$$\\frac{a}{b}$$\n\n',
  '```ts\nconst a = "<b>1</b>";\n```\n\n',
  '| what | amount |\n|---|---:|\n| one | 1 234 567.89 |\n\n- [x] done\n- [ ] open\n',
].join('');

const visits = new Visits();
const { visit } = visits;

/** The button of one message. */
function action(message: Locator, name: string): Locator {
  return message.getByRole('button', { name, exact: true });
}

describeWithBrowser('the messages of the page', () => {
  visits.serve();

  it.each(['light', 'dark'] as const)(
    'have formulas, highlighted code, tables and tasks, and no finding of axe: %s',
    async (colorScheme) => {
      visits.service.when('Rich', says(RICH));
      for (const viewport of [
        { width: 1440, height: 900 },
        { width: 390, height: 844 },
      ]) {
        const visitor = await visit({ colorScheme, viewport });
        visits.service.when('Rich', says(RICH));
        await visitor.say('Rich');
        await visitor.idle();
        const answer = visitor.answers.nth(0);
        await answer.locator('math').nth(1).waitFor({ state: 'attached' });
        expect(await answer.locator('math').count()).toBe(2);
        expect(await answer.locator('.formula.display math mfrac').count()).toBe(1);
        expect(await answer.innerText()).toContain('costs $5 or $10.');
        await answer.locator('pre .hljs-keyword').filter({ hasText: 'const' }).waitFor();
        expect(await answer.locator('pre').innerText()).toBe('const a = "<b>1</b>";\n');
        expect(await answer.locator('.code-header').innerText()).toBe('ts');
        expect(await answer.locator('td.amount').innerText()).toBe('1 234 567.89');
        expect(await answer.getByRole('checkbox', { name: 'Done' }).isChecked()).toBe(true);
        expect(await answer.getByRole('checkbox', { name: 'To do' }).isChecked()).toBe(false);
        expect(await findingsOf(visitor.page)).toEqual([]);
        const { SCREENSHOTS } = process.env;
        if (SCREENSHOTS !== undefined)
          await visitor.page.screenshot({
            path: `${SCREENSHOTS}/messages-${colorScheme}-${String(viewport.width)}.png`,
          });
      }
    },
  );

  it('are copied whole, and the code of them alone', async () => {
    const visitor = await visit({ permissions: ['clipboard-read', 'clipboard-write'] });
    visits.service.when('Rich', says(RICH));
    await visitor.say('Rich');
    await visitor.idle();
    const copied = (): Promise<unknown> => visitor.page.evaluate('navigator.clipboard.readText()');
    await action(visitor.answers.nth(0), 'Copy code').click();
    await action(visitor.answers.nth(0), 'Copied').waitFor();
    expect(await copied()).toContain('const a = "<b>1</b>";');
    await action(visitor.answers.nth(0), 'Copy message').click();
    await untilInPage(
      visitor.page,
      'navigator.clipboard.readText().then((text) => text.includes("- [x] done"))',
    );
    expect(await copied()).toBe(RICH);
    await action(visitor.questions.nth(0), 'Copy message').click();
    await action(visitor.questions.nth(0), 'Copied').waitFor();
    expect(await copied()).toBe('Rich');
  });

  it('scroll wide tables, whose columns keep their words', async () => {
    const hash = `0x${'ab'.repeat(32)}`;
    const row = `| ${hash} | confirmed yesterday | ${hash} |`;
    visits.service.when('Table', says(`| hash | status | block |\n|---|---|---|\n${row}\n`));
    const visitor = await visit({ viewport: { width: 360, height: 740 } });
    await visitor.say('Table');
    await visitor.idle();
    const cells = await visitor.answers.nth(0).locator('td').all();
    const widths = await Promise.all(cells.map(async (cell) => (await cell.boundingBox())?.width));
    for (const width of widths) expect(width).toBeGreaterThan(80);
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  it('link to other pages only: a place of this one and a removed address are text', async () => {
    const links =
      '[site](https://example.com/) [removed](javascript:void) [place](#top) ![picture](data:x) noted[^1]';
    visits.service.when('Links', says(`${links}\n\n[^1]: The note\n`));
    const visitor = await visit();
    await visitor.say('Links');
    await visitor.idle();
    const answer = visitor.answers.nth(0);
    await answer.getByText('The note').waitFor();
    expect(await answer.innerText()).toMatch(/site removed place picture noted\s*1[^]*The note\n/);
    expect(await answer.locator('a').count()).toBe(1);
    expect(await answer.locator('a').getAttribute('href')).toBe('https://example.com/');
  });

  it('that would block the page are shown as they are, and the page goes on', async () => {
    const marks = '*a'.repeat(20_000);
    const nested = `${'*_'.repeat(350)}deep${'_*'.repeat(350)}`;
    const word = `\`\`\`c\nint ${'a'.repeat(9_000)};\n\`\`\``;
    const formula = '$\\def\\a{xx}\\a$';
    const rendered = ['$y$', '```c\nint a;\n```'];
    const reply = ['# Before', nested, word, formula, ...rendered, marks, '**after**'].join('\n\n');
    visits.service.when('Hostile', says(reply));
    const visitor = await visit();
    await visitor.say('Hostile');
    await visitor.idle();
    const answer = visitor.answers.nth(0);
    await answer.getByRole('heading', { name: 'Before' }).waitFor();
    expect(await answer.getByText('deep', { exact: true }).count()).toBe(1);
    // Once the libraries of formulas and of code are loaded.
    await answer.locator('math').waitFor({ state: 'attached' });
    await answer.locator('pre span').waitFor();
    expect(await answer.locator('math mi, pre span').allTextContents()).toEqual(['y', 'int']);
    expect(await answer.locator('p.plain').textContent()).toBe(`${marks}\n\n**after**`);
    await visitor.say('Next');
    await visitor.hears('You said: Next', 1);
  });

  it('are not sent by the key that ends a composition in Safari', async () => {
    // Chromium with the properties that identify Safari, and the events in Safari's order.
    const visitor = await visit({
      prepare: (context) => context.addInitScript('window.GestureEvent = Event'),
    });
    await visitor.composer.fill('half');
    await visitor.page.evaluate(`(() => {
      const input = document.querySelector('[aria-label=Message]');
      input.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true, data: 'half' }));
      input.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, key: 'Enter' }));
      input.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true, key: 'Enter' }));
    })()`);
    await visitor.composer.press('End');
    await visitor.composer.pressSequentially(' and whole');
    await visitor.composer.press('Enter');
    await visitor.hears('You said: half and whole', 0);
    await visitor.idle();
  });

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    const fragment = `surface=${surface}`;

    it('say when, how fast, with how many tokens and by which model, after a reload too', async () => {
      const visitor = await visit({ fragment });
      await visitor.say('Hello');
      await visitor.idle();
      const facts = visitor.answers.nth(0).locator('.turn-facts');
      const expected = /\d\d:\d\d.*\d s in all.*first word after \d.*7 \+ 3 tokens.*scripted/s;
      await facts.filter({ hasText: expected }).waitFor();
      await visitor.page.reload();
      await facts.filter({ hasText: expected }).waitFor();
    });

    it('are generated again once by a double click', async () => {
      const visitor = await visit({ fragment });
      await visitor.say('First');
      await visitor.hears('You said: First', 0);
      await visitor.idle();
      const branches: string[] = [];
      visitor.page.on('request', (request) => {
        if (new URL(request.url()).pathname.endsWith('/branch')) branches.push(request.method());
      });
      const before = visitor.sessionId;
      await visitor.answers.first().hover();
      await action(visitor.answers.first(), 'Regenerate').dblclick();
      await untilInPage(visitor.page, `!location.hash.includes('${before}')`);
      await visitor.hears('You said: First', 0);
      await visitor.idle();
      expect(branches).toEqual(['POST']);
    });

    it('are edited and generated again in a branch, by keyboard alone', async () => {
      const visitor = await visit({ fragment });
      await visitor.say('First');
      await visitor.hears('You said: First', 0);
      await visitor.idle();
      await visitor.say('Second');
      await visitor.hears('You said: Second', 1);
      await visitor.idle();
      const before = visitor.sessionId;
      await action(visitor.questions.nth(1), 'Edit message').press('Enter');
      const editor = visitor.page.getByRole('textbox', { name: 'Edit message' });
      await editor.press('Escape');
      await editor.waitFor({ state: 'detached' });
      await action(visitor.questions.nth(1), 'Edit message').press('Enter');
      await editor.fill('Other');
      await editor.press('Enter');
      await visitor.hears('You said: Other', 1);
      await visitor.idle();
      const branch = visitor.sessionId;
      expect(branch).not.toBe(before);
      expect(await visitor.questions.count()).toBe(2);
      await visitor.page.getByRole('heading', { level: 1, name: /^Branch of / }).waitFor();

      visits.service.when('Other', says('Another reply'));
      await action(visitor.answers.nth(1), 'Regenerate').press('Enter');
      await visitor.hears('Another reply', 1);
      await visitor.idle();
      expect(visitor.sessionId).not.toBe(branch);
      // Both threads are as they were.
      await visitor.page.goBack();
      await visitor.hears('You said: Other', 1);
      await visitor.page.goBack();
      await visitor.hears('You said: Second', 1);
    });

    it('stay in the editor when no branch can be made, and are sent from there', async () => {
      const visitor = await visit({ fragment });
      await visitor.say('First');
      await visitor.hears('You said: First', 0);
      await visitor.idle();
      await visitor.page.route('**/branch*', (route) => route.fulfill({ status: 403, body: '{}' }), {
        times: 1,
      });
      await action(visitor.questions.nth(0), 'Edit message').click();
      const editor = visitor.page.getByRole('textbox', { name: 'Edit message' });
      await editor.fill('Long and well thought out');
      await editor.press('Enter');
      await visitor.page.getByRole('alert').waitFor();
      expect(await editor.inputValue()).toBe('Long and well thought out');
      await editor.press('Enter');
      await visitor.hears('You said: Long and well thought out', 0);
      await visitor.idle();
      visitor.excuse(/status of 403/);
    });

    it('are marked as interrupted, cancelled and failed, after a reload too, and sent again', async () => {
      const never = new Gate();
      visits.service.when('Long', says('Half of it', never));
      visits.service.when('Bad', (reply) => {
        reply.json(400, { error: { message: 'no' } });
      });
      const visitor = await visit({ fragment });
      await visitor.say('Long');
      await visitor.hears('Half of it', 0);
      await visitor.say('Later');
      await visitor.queue.filter({ hasText: 'Later' }).waitFor();
      await visitor.button('Interrupt').click();
      await visitor.idle();
      const cancelled = visitor.questions.filter({ hasText: 'Later' });
      const check = async (): Promise<void> => {
        await visitor.answers.nth(0).locator('.fate').filter({ hasText: 'Interrupted' }).waitFor();
        await cancelled.locator('.fate').filter({ hasText: 'Cancelled' }).waitFor();
      };
      await check();
      await visitor.page.reload();
      await check();
      await action(cancelled, 'Send again').click();
      await visitor.hears('You said: Later', 1);
      await visitor.idle();

      await visitor.say('Bad');
      const failure = visitor.page.locator('[data-role=system]');
      await failure.waitFor();
      await visitor.idle();
      await visitor.page.reload();
      await action(failure, 'Try again').click();
      await visitor.hears('You said: Bad', 2);
      expect(await visitor.questions.filter({ hasText: 'Bad' }).count()).toBe(2);
      await check();
      never.open();
    });

    it('are exported as Markdown and JSON', async () => {
      visits.service.when('Add', calls('calculate', { expression: '20+22' }), says('It is 42.'));
      const visitor = await visit({ fragment });
      await visitor.say('Add');
      await visitor.hears('It is 42.', 0);
      await visitor.idle();
      await visitor.answers.nth(0).locator('.turn-facts').filter({ hasText: 'scripted' }).waitFor();
      await visitor.page.getByRole('heading', { level: 1, name: 'A made-up title' }).waitFor();
      const exported = async (name: string): Promise<{ name: string; text: string }> => {
        await visitor.page.locator('summary[aria-label="Export thread"]').press('Enter');
        const [download] = await Promise.all([
          visitor.page.waitForEvent('download'),
          visitor.button(name).press('Enter'),
        ]);
        return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
      };
      const markdown = await exported('Markdown');
      expect(markdown.name).toBe('A-made-up-title.md');
      expect(markdown.text).toMatch(
        /^# A made-up title\n\n## You · .*\n\nAdd\n\n## Assistant · scripted · .*\n\n```json\n\{\n {2}"tool": "calculate"[^]*\n```\n\nIt is 42\.\n$/,
      );
      const { name, text } = await exported('JSON');
      expect(name).toBe('A-made-up-title.json');
      expect(JSON.parse(text)).toMatchObject({
        session_id: visitor.sessionId,
        title: 'A made-up title',
        messages: [
          { role: 'user', text: 'Add' },
          {
            role: 'assistant',
            text: 'It is 42.',
            tools: [{ name: 'calculate', args: { expression: '20+22' }, status: 'complete' }],
            turn: { rig: 'scripted', status: 'complete' },
          },
        ],
      });
    });
  });
});
