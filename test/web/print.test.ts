import { randomUUID } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import { describeWithBrowser } from '../support/browser.js';
import { says } from './scripted-service.js';
import { Visits } from './visits.js';

jest.setTimeout(60_000);

const visits = new Visits();
const { visit } = visits;

/** The parts of the page that cut off what is in them. */
const CUT = `[...document.querySelectorAll('html, body, #root, .desk, main, .pane, .viewport, .message, pre')]
  .filter((part) => part.scrollHeight > part.clientHeight + 1 && getComputedStyle(part).overflowY !== 'visible')
  .map((part) => part.className || part.tagName)`;

describeWithBrowser('A printed thread', () => {
  visits.serve();

  it.each(['light', 'dark'] as const)(
    'is all of the thread in dark ink, from a %s page',
    async (colorScheme) => {
      const lines = Array.from({ length: 200 }, (_, n) => `Line ${String(n)}`);
      const code = ['```', ...lines, '```'].join('\n');
      visits.service.when('Long', says(`${lines.join('\n\n')}\n\n${code}`));
      const visitor = await visit({ colorScheme });
      const { page } = visitor;
      await visitor.say('Long');
      await visitor.hears('Line 199', 0);
      await visitor.idle();
      await visitor.button('Inspector').click();
      await page.getByRole('complementary', { name: 'Inspector' }).waitFor();
      expect(await page.evaluate(CUT)).not.toEqual([]);

      await page.emulateMedia({ media: 'print', colorScheme });
      expect(await page.evaluate(CUT)).toEqual([]);
      expect(await page.getByRole('complementary').count()).toBe(0);
      expect(await page.getByRole('button').count()).toBe(0);
      expect(await visitor.composer.isVisible()).toBe(false);
      for (const name of ['You', 'Assistant'])
        expect(await page.getByRole('heading', { name, exact: true }).isVisible()).toBe(true);
      expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(35, 33, 29)');
      const pdf = await page.pdf({ format: 'A4' });
      const pages = pdf.toString('latin1').match(/\/Type \/Page\b/g) ?? [];
      expect(pages.length).toBeGreaterThan(5);
    },
  );

  it('has the messages that the page does not show yet', async () => {
    const session = randomUUID();
    for (let n = 0; n < 51; n++) {
      const sent = await fetch(`${visits.service.url}/api/chat?message=number-${String(n)}-`, {
        method: 'POST',
        headers: { 'X-Session-Id': session, Prefer: 'wait=60' },
      });
      expect(await sent.json()).toMatchObject({ is_processing: false });
    }
    const visitor = await visit({ fragment: `session=${session}` });
    await visitor.button('Show earlier messages (2)').waitFor();
    await visitor.page.pdf();
    expect(await visitor.questions.first().innerText()).toContain('number-0-');
  });
});
