import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { ScriptedService } from './scripted-service.js';
import { Visitor } from './visitor.js';
import { useChain } from './wallet-chain.js';
import { cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const { nodes, addressOf, walletOf } = useChain();
let browser: Browser;
let service: ScriptedService;
let visitor: Visitor;

describeWithBrowser('The wallets of a browser', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([ScriptedService.start({}, chainLines(nodes)), launchBrowser()]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(() => service.close());

  const panel = () => visitor.page.getByRole('group', { name: 'Browser wallet' });

  it('are all offered, and the one of the last visit is connected again without a prompt', async () => {
    const [fox, rabbit] = [walletOf('Fox', 0), walletOf('Rabbit', 1)];
    visitor = await visitWith(browser, service.url, [fox, rabbit]);
    await visitor.openSection('Wallet');
    expect(await panel().getByRole('listitem').allInnerTexts()).toEqual(['Connect Fox', 'Connect Rabbit']);
    await connect(visitor, 'Rabbit');
    await panel().getByText(FRIEND).waitFor();
    await visitor.page.reload();
    await panel().getByText(FRIEND).waitFor();
    expect(rabbit.count('eth_requestAccounts')).toBe(1);
    expect(fox.calls).toEqual([]);
    await visitor.button('Disconnect').click();
    await visitor.page.reload();
    await panel().getByRole('button', { name: 'Connect Fox' }).waitFor();
    expect(await visitor.page.getByLabel('Wallet address').inputValue()).toBe('');
  });

  it('are found at window.ethereum where none announces itself', async () => {
    visitor = await visitWith(browser, service.url, [walletOf('Fox', 0)], { how: 'injected' });
    await connect(visitor, 'Browser wallet');
    await panel().getByText(addressOf(0)).waitFor();
  });

  it('may decline, and may have no account', async () => {
    const fox = walletOf('Fox', 0);
    fox.answers.push({ code: 4001 }, { result: [] }, { result: 'nonsense' });
    visitor = await visitWith(browser, service.url, [fox]);
    await visitor.openSection('Wallet');
    const problem = panel().getByRole('alert');
    for (const words of [
      'You declined to connect the wallet.',
      ...Array<string>(2).fill('The wallet has no account'),
    ]) {
      await panel().getByRole('button', { name: 'Connect Fox' }).click();
      await problem.filter({ hasText: words }).waitFor();
    }
    await connect(visitor, 'Fox');
    expect(await problem.count()).toBe(0);
  });

  it('can be chosen while another one does not answer, whose late answer changes nothing', async () => {
    const [fox, rabbit] = [walletOf('Fox', 0), walletOf('Rabbit', 1)];
    const prompt = new Gate();
    fox.answers.push(prompt);
    visitor = await visitWith(browser, service.url, [fox, rabbit]);
    await visitor.openSection('Wallet');
    await panel().getByRole('button', { name: 'Connect Fox' }).click();
    await panel().getByRole('button', { name: 'Answer in Fox' }).waitFor();
    await connect(visitor, 'Rabbit');
    await panel().getByText(FRIEND).waitFor();
    prompt.open();
    // Answered after the first: from then on the page would ask for account and chain.
    await visitor.page.evaluate("testProviders.Fox.request({ method: 'eth_requestAccounts' })");
    await visitor.page.reload();
    await panel().getByText(FRIEND).waitFor();
    expect(fox.calls.map(({ method }) => method)).toEqual(Array(2).fill('eth_requestAccounts'));
  });

  it('are offered in a request, too, and none means that only Reject is left', async () => {
    service.when('Pay', ...pays({ to: FRIEND, value: '1 wei' }));
    const fox = walletOf('Fox', 0);
    visitor = await visitWith(browser, service.url, [fox]);
    await visitor.openSection('Wallet');
    await visitor.page.getByLabel('Wallet address').fill(addressOf(0));
    await visitor.page.getByLabel('Wallet address').press('Enter');
    await visitor.say('Pay');
    const card = cardOf(visitor, 1);
    await card.waitFor();
    expect(await card.locator('button:not(.facts button)').allInnerTexts()).toEqual([
      'Connect Fox',
      'Reject',
    ]);
    await card.getByRole('button', { name: 'Connect Fox' }).click();
    await card.getByRole('button', { name: /^Approve in Fox/ }).click();
    await card.getByText('Verified by the service: confirmed.').waitFor();
  });

  it('cannot be asked by a page that reaches the legacy surface alone, which it says', async () => {
    service.when('Pay', ...pays({ to: FRIEND, value: '1 wei' }));
    const session = randomUUID();
    await fetch(`${service.url}/current/api/sessions`, {
      method: 'POST',
      headers: { 'X-Session-Id': session, 'Content-Type': 'application/json' },
      body: JSON.stringify({ public_key: addressOf(0) }),
    });
    visitor = await Visitor.open(browser, service.url, {
      fragment: `session=${session}&surface=legacy`,
      prepare: (context) =>
        context.route('**/api/health', (route) =>
          route.fulfill({ json: { status: 'ok', surfaces: ['legacy'] } }),
        ),
    });
    await visitor.say('Pay');
    await visitor.page.getByText('Only the current surface shows such requests').waitFor();
    expect(await cardOf(visitor, 1).count()).toBe(0);
  });
});
