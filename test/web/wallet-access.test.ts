import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { ScriptedService } from './scripted-service.js';
import { findingsOf, type Visitor } from './visitor.js';
import { emit, TestWallet } from './wallet-browser.js';
import { asksToSign, buttonOf, cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const CHAIN = 31_337;
const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESK = { viewport: { width: 1440, height: 900 } };

let anvil: Anvil;
let shop: string;
let nodes: ReadonlyMap<number, string>;
let service: ScriptedService;
let browser: Browser;
let visitor: Visitor;

/** The parts that are wider than their place. */
function overflowing(): Promise<unknown> {
  return visitor.page.evaluate(
    `[...document.querySelectorAll('html, .side, .viewport, .request')].filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.className)`,
  );
}

async function isSound(): Promise<void> {
  expect(await findingsOf(visitor.page)).toEqual([]);
  expect(await overflowing()).toEqual([]);
}

describeWithBrowser('Wallet requests for everybody', () => {
  beforeAll(async () => {
    anvil = await startAnvil(CHAIN);
    // Its code is one STOP: it takes every call.
    shop = await anvil.deploy({ abi: [], bytecode: '0x60016000f3' });
    nodes = new Map([
      [CHAIN, anvil.url],
      [1, anvil.url],
    ]);
    const lines = chainLines(new Map([[CHAIN, anvil.url]]));
    [service, browser] = await Promise.all([ScriptedService.start({}, lines), launchBrowser()]);
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(async () => {
    await service.close();
    await anvil.close();
  });

  const walletOf = () => new TestWallet('Fox', nodes, anvil.accounts.slice(0, 1));

  it.each([
    ['at a desk, light', { ...DESK, colorScheme: 'light' }, false],
    ['on a phone, dark', { ...PHONE, colorScheme: 'dark' }, true],
  ] as const)('have no finding of axe %s, whatever they show', async (_name, options, isPhone) => {
    const fox = walletOf();
    visitor = await visitWith(browser, service.url, [fox], options);
    const side = visitor.button('Threads and assistant');
    if (isPhone) await side.click();
    await isSound();
    await connect(visitor, 'Fox');
    await isSound();
    if (isPhone) await visitor.button('Close').click();
    const note = `a long word ${'x'.repeat(100)}`;
    const types = {
      EIP712Domain: [{ name: 'name', type: 'string' }],
      Order: [{ name: 'note', type: 'string' }],
    };
    const order = { types, domain: { name: 'Shop' }, primaryType: 'Order', message: { note } };
    service.when('Pay', ...pays({ to: FRIEND, value: '0.01', label: note }));
    service.when('Call', ...pays({ to: shop, data: `0x${'ab'.repeat(500)}` }, [2]));
    service.when('Sign', ...asksToSign({ typed_data: order, description: note }));
    for (const [n, words] of ['Pay', 'Call', 'Sign'].entries()) {
      await visitor.say(words);
      await cardOf(visitor, n + 1).waitFor();
      await visitor.idle();
      await cardOf(visitor, n + 1)
        .getByText('Details')
        .click();
    }
    await isSound();
    fox.chainId = 1;
    await emit(visitor.page, 'Fox', 'chainChanged', '0x1');
    await cardOf(visitor, 1).getByText('Your wallet is on Ethereum (chain 1)').waitFor();
    await isSound();
    const prompt = new Gate();
    fox.answers.push({ code: -32_603, message: note }, prompt);
    await buttonOf(cardOf(visitor, 1), 'Change chain').click();
    await cardOf(visitor, 1).getByText('It may have signed').waitFor();
    await isSound();
    await buttonOf(cardOf(visitor, 1), 'Ask Fox again').click();
    await cardOf(visitor, 1).getByText('Answer in your wallet.').waitFor();
    await isSound();
    prompt.open();
    await cardOf(visitor, 1).getByText('Verified by the service: confirmed.').waitFor();
    await visitor.idle();
    await isSound();
  });

  it('are worked by keys, and keep the focus when their buttons go', async () => {
    const fox = walletOf();
    service.when('Pay', ...pays({ to: FRIEND, value: '0.01' }));
    visitor = await visitWith(browser, service.url, [fox]);
    const { page } = visitor;
    const focused = page.locator(':focus');
    await visitor.openSection('Wallet');
    const connecting = page.getByRole('button', { name: 'Connect Fox' });
    await connecting.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Disconnect' }).waitFor();
    await visitor.composer.focus();
    await page.keyboard.type('Pay');
    await page.keyboard.press('Enter');
    const card = cardOf(visitor, 1);
    await card.waitFor();
    await visitor.idle();
    await page
      .locator('[aria-live]', { hasText: 'asks your wallet to sign: request 1' })
      .waitFor({ state: 'attached' });
    for (let n = 0; n < 12 && !(await focused.innerText()).startsWith('Approve'); n++)
      await page.keyboard.press('Shift+Tab');
    const prompt = new Gate();
    fox.answers.push(prompt);
    await page.keyboard.press('Enter');
    await card.getByText('Answer in your wallet.').waitFor();
    expect(await focused.getAttribute('data-phase')).toBe('asking');
    prompt.open();
    await card.getByText('Verified by the service: confirmed.').waitFor();
    await visitor.idle();
    expect(await card.getByRole('button').allInnerTexts()).toHaveLength(2);
    await card.getByRole('button', { name: 'Hide request 1' }).focus();
    await page.keyboard.press('Enter');
    await card.waitFor({ state: 'detached' });
  });
});
