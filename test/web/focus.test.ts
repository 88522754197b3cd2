import { expect, it } from '@jest/globals';
import { describeWithBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { says } from './scripted-service.js';
import type { Visitor } from './visitor.js';
import { Visits } from './visits.js';

const visits = new Visits();
const { visit } = visits;

/** Resolves once the element with this label or text has the focus. */
async function focused({ page }: Visitor, name: string): Promise<void> {
  const button = page.getByRole('button', { name, exact: true }).and(page.locator(':focus'));
  await button.or(page.getByLabel(name, { exact: true }).and(page.locator(':focus'))).waitFor();
}

async function press(visitor: Visitor, name: string): Promise<void> {
  await visitor.button(name).focus();
  await visitor.page.keyboard.press('Enter');
}

async function begin(visitor: Visitor): Promise<void> {
  await visitor.say('Hello');
  await visitor.hears('You said: Hello', 0);
  await visitor.idle();
  await visitor.button('Rename A made-up title').waitFor({ state: 'attached' });
  await visitor.button('Edit message').waitFor();
}

describeWithBrowser('The focus', () => {
  visits.serve();

  it('is on the safe button of a confirmation, and returns to the button of a thread when that is closed', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor);
    await press(visitor, 'Rename A made-up title');
    await focused(visitor, 'New title');
    await page.keyboard.press('Escape');
    await focused(visitor, 'Rename A made-up title');
    await page.keyboard.press('Enter');
    await focused(visitor, 'New title');
    await page.getByLabel('New title').fill('Another');
    await page.keyboard.press('Enter');
    await focused(visitor, 'Rename Another');

    await press(visitor, 'Delete Another');
    await focused(visitor, 'Keep');
    await page.getByRole('button', { name: 'Keep', description: 'Delete “Another”?' }).waitFor();
    await page.keyboard.press('Escape');
    await focused(visitor, 'Delete Another');
    await page.keyboard.press('Enter');
    await press(visitor, 'Keep');
    await focused(visitor, 'Delete Another');

    await press(visitor, 'Forget all on this device');
    await focused(visitor, 'Keep');
    await press(visitor, 'Keep');
    await focused(visitor, 'Forget all on this device');
  });

  it('returns when Esc closes the confirmation to forget all, and the reply continues', async () => {
    const visitor = await visit();
    const { page } = visitor;
    await begin(visitor);
    const held = new Gate();
    visits.service.when('Go on', says('First', held, ' and last.'));
    await visitor.say('Go on');
    await visitor.hears('First', 1);
    await press(visitor, 'Forget all on this device');
    await focused(visitor, 'Keep');
    await page.keyboard.press('Escape');
    await focused(visitor, 'Forget all on this device');
    held.open();
    await visitor.hears('First and last.', 1);
    await visitor.idle();
  });

  it('returns to the button of a message when its editor is closed', async () => {
    const visitor = await visit();
    await begin(visitor);
    for (const close of [() => visitor.page.keyboard.press('Escape'), () => press(visitor, 'Cancel')]) {
      await press(visitor, 'Edit message');
      await focused(visitor, 'Edit message');
      expect(await visitor.page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
      await close();
      await visitor.page.locator('button:focus[aria-label="Edit message"]').waitFor();
    }
  });

  it('moves to the message input when a button disappears after a click', async () => {
    const visitor = await visit();
    const held = new Gate();
    visits.service.when('What can you do?', says('Much', held));
    await press(visitor, 'What can you do?');
    await focused(visitor, 'Message');
    await visitor.hears('Much', 0);
    await press(visitor, 'Interrupt');
    await visitor.idle();
    await focused(visitor, 'Message');
    held.open();

    await visitor.page.route('**/api/chat*', (route) => route.fulfill({ status: 403, body: '{}' }));
    await visitor.say('Refused');
    await press(visitor, 'Dismiss');
    await focused(visitor, 'Message');
    visitor.excuse(/status of 403/);
  });

  it('stays where it is on a touch screen, where the message input would open the keyboard', async () => {
    const visitor = await visit({
      ...{ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
    });
    const held = new Gate();
    visits.service.when('What can you do?', says('Much', held));
    await visitor.page.evaluate('document.activeElement.blur()');
    await visitor.button('What can you do?').tap();
    await visitor.hears('Much', 0);
    await visitor.button('Interrupt').tap();
    await visitor.idle();
    expect(await visitor.page.locator(':focus').count()).toBe(0);
    held.open();
  });
});
