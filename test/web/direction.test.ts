import { describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { describeWithBrowser } from '../support/browser.js';
import { says } from './scripted-service.js';
import { Visits } from './visits.js';

const visits = new Visits();
const { visit } = visits;

const QUESTION = 'שלום, מה שלומך?';
const REPLY = `### العنوان الأول

مرحبا بك في الخدمة.

This paragraph is English.

- العنصر الأول
- \`npm\` العنصر الثاني

1. One
2. Two

> اقتباس

| الاسم | القيمة |
|---|---|
| مبلغ | 12 |

\`\`\`js
const text = 'مرحبا';
\`\`\`
`;

/** An element of the page, as far as its direction needs it. */
interface Part {
  readonly ownerDocument: {
    readonly defaultView: { getComputedStyle(part: Part): { readonly direction: string } };
  };
}

function directionOf(locator: Locator): Promise<string> {
  return locator.evaluate((part: Part) => part.ownerDocument.defaultView.getComputedStyle(part).direction);
}

describeWithBrowser('Text from right to left', () => {
  visits.serve();

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    it('has its own direction in messages, and code stays from left to right', async () => {
      visits.service.when(QUESTION, says(REPLY));
      const visitor = await visit({ fragment: `surface=${surface}` });
      await visitor.say(QUESTION);
      await visitor.hears('This paragraph is English.', 0);
      await visitor.idle();
      expect(await directionOf(visitor.questions.locator('.plain'))).toBe('rtl');
      const reply = visitor.answers.first();
      const rightToLeft = ['h5', 'p:has-text("مرحبا")', 'ul', 'ul li >> nth=0', 'ul li >> nth=1'];
      for (const part of [...rightToLeft, 'blockquote', 'table', 'th >> nth=0', 'td >> nth=0'])
        expect([part, await directionOf(reply.locator(part))]).toEqual([part, 'rtl']);
      for (const part of ['p:has-text("English")', 'ol', 'ol li >> nth=0', 'li code', 'pre', 'pre code'])
        expect([part, await directionOf(reply.locator(part))]).toEqual([part, 'ltr']);
    });
  });

  it('has its own direction where it is typed, and in titles', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await visitor.composer.fill(QUESTION);
    expect(await directionOf(visitor.composer)).toBe('rtl');
    await visitor.say('Hello');
    await visitor.hears('You said: Hello', 0);
    await visitor.idle();
    expect(await directionOf(visitor.questions.locator('.plain'))).toBe('ltr');
    await visitor.button('Rename A made-up title').click();
    const field = page.getByLabel('New title');
    await field.fill(QUESTION);
    expect(await directionOf(field)).toBe('rtl');
    await field.press('Enter');
    const title = page.getByRole('button', { name: QUESTION, exact: true });
    expect(await directionOf(title)).toBe('rtl');
    const heading = page.getByRole('heading', { level: 1, name: QUESTION });
    expect(await directionOf(heading)).toBe('rtl');
    await visitor.button('Edit message').click();
    const editor = page.getByRole('textbox', { name: 'Edit message' });
    await editor.fill(QUESTION);
    expect(await directionOf(editor)).toBe('rtl');
  });
});
