import { expect, it } from '@jest/globals';
import { describeWithBrowser } from '../support/browser.js';
import { calls, says, ScriptedService } from './scripted-service.js';
import { Visits } from './visits.js';

/** Reverses the text that follows, has no width, or is a letter that is never drawn. */
const [REVERSED, NO_WIDTH, TAG] = ['\u202e', '\u200b', '\u{e0041}'];
const RESULT = `one\ttwo\r\n${REVERSED}three${NO_WIDTH}${TAG}`;
const TOOL = `export const tool = {
  name: 'read_page',
  description: 'Reads a page.',
  parameters: { type: 'object', properties: { page: { type: 'string' } }, required: ['page'] },
  sideEffects: 'none',
  run({ page }) {
    return page === 'text' ? ${JSON.stringify(RESULT)} : { title: ${JSON.stringify(RESULT)} };
  },
};
`;

const visits = new Visits();

describeWithBrowser('A tool call', () => {
  visits.serve(() => ScriptedService.start({}, { more: 'tools: ./tool.mjs\n', files: { 'tool.mjs': TOOL } }));

  it.each([
    ['a text', 'text', 'one\ttwo\r\n\\u202ethree\\u200b\\u{e0041}'],
    ['JSON', `json${REVERSED}`, '{\n  "title": "one\\ttwo\\r\\n\\u202ethree\\u200b\\udb40\\udc41"\n}'],
  ])('shows invisible characters of arguments and result as escapes: %s', async (_, page, result) => {
    visits.service.when('Read', calls('read_page', { page }), says('Read it.'));
    const visitor = await visits.visit();
    await visitor.say('Read');
    await visitor.hears('Read it.', 0);
    await visitor.idle();
    const call = visitor.answers.nth(0).locator('details.tool');
    const args = page.replace(REVERSED, '\\u202e');
    expect(await call.locator('.tool-brief').innerText()).toBe(`{ "page": "${args}" }`);
    await call.locator('summary').click();
    expect(await call.locator('pre').allInnerTexts()).toEqual([`{\n  "page": "${args}"\n}`, result]);
  });

  it('shows them as escapes in the inspector, too', async () => {
    visits.service.when('Read', calls('read_page', { page: REVERSED }), says('Read it.'));
    const visitor = await visits.visit();
    await visitor.button('Inspector').click();
    await visitor.say('Read');
    await visitor.hears('Read it.', 0);
    await visitor.idle();
    const panel = visitor.page.getByRole('tabpanel');
    for (const tab of ['Events', 'Snapshot']) {
      await visitor.page.getByRole('tab', { name: tab }).click();
      await panel.getByText('\\u202ethree\\u200b\\udb40\\udc41').first().waitFor();
      expect(await panel.innerText()).not.toMatch(/[\u202e\u200b\u{e0041}]/u);
    }
  });
});
