import { describe, expect, it } from '@jest/globals';
import { describeWithBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { says } from './scripted-service.js';
import { Visits } from './visits.js';

const visits = new Visits();
const { visit } = visits;

describeWithBrowser('what the page is set to', () => {
  visits.serve();

  it('stays as another tab has set it', async () => {
    const visitor = await visit();
    const other = visits.add(await visitor.another(visits.service.url));
    await other.openSection('Wallet');
    await other.page.getByLabel('Wallet address').fill('of the other tab');
    await other.page.getByLabel('Wallet address').press('Enter');
    await other.button('New thread').click();
    await visitor.button('New thread').click();
    const third = visits.add(await visitor.another(visits.service.url));
    await third.openSection('Wallet');
    expect(await third.page.getByLabel('Wallet address').inputValue()).toBe('of the other tab');
  });

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    const fragment = `surface=${surface}`;

    it('shows the rig of its own thread alone', async () => {
      const visitor = await visit({ fragment });
      const rig = visitor.page.getByLabel('Rig');
      await visitor.openSection('Assistant');
      await visitor.say('In the first');
      await visitor.hears('You said: In the first', 0);
      await rig.selectOption('second');
      await visitor.page.getByRole('button', { name: /^Assistant.*The second/ }).waitFor();
      await visitor.button('New thread').click();
      await visitor.page.getByRole('button', { name: /^Assistant.*scripted/ }).waitFor();
      expect(await rig.inputValue()).toBe('scripted');
      await visitor.page.goBack();
      await visitor.page.getByRole('button', { name: /^Assistant.*The second/ }).waitFor();
      expect(await rig.inputValue()).toBe('second');
    });

    it('shows a user state that was saved during a reply before the reply ends', async () => {
      const held = new Gate();
      visits.service.when('Hold', says('First', held, ' and last.'));
      const visitor = await visit({ fragment });
      await visitor.say('Hold');
      await visitor.hears('First', 0);
      const tab = await visitor.openTab('User state');
      await tab.getByLabel('User state').fill('{"chain_id": 8453}');
      await visitor.button('Save').click();
      const snapshot = await visitor.openTab('Snapshot');
      await snapshot.getByText('"chain_id": 8453').first().waitFor();
      held.open();
      await visitor.hears('First and last.', 0);
      await visitor.idle();
    });
  });
});
