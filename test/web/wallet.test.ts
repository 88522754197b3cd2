import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { says, ScriptedService } from './scripted-service.js';
import type { Visitor } from './visitor.js';
import { emit, TestWallet } from './wallet-browser.js';
import { asksToSign, buttonOf, cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const HOME = 31_337;
const AWAY = 31_338;
const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const PAYMENT = { to: FRIEND, value: '0.01', label: 'Lunch' };
/** The order of a well-known token call: an approval of everything. */
const APPROVAL = `0x095ea7b3${FRIEND.slice(2).toLowerCase().padStart(64, '0')}${'f'.repeat(64)}`;

let anvils: readonly Anvil[];
let nodes: ReadonlyMap<number, string>;
let accounts: readonly string[];
let service: ScriptedService;
let browser: Browser;
let wallet: TestWallet;
let visitor: Visitor;

async function visit(options: Parameters<typeof visitWith>[3] = {}): Promise<void> {
  visitor = await visitWith(browser, service.url, [wallet], options);
}

/** Opens the page, connects the wallet, and lets the assistant ask for a payment. */
async function askForPayment(options: Parameters<typeof visitWith>[3] = {}, payment: object = PAYMENT) {
  service.when('Pay', ...pays(payment));
  await visit(options);
  await connect(visitor, wallet.name);
  await visitor.say('Pay');
  await visitor.hears('Please approve.', 0);
  await cardOf(visitor, 1).waitFor();
}

/** Resolves once the card of the first request says so. */
async function cardSays(words: string | RegExp, id = 1): Promise<void> {
  await cardOf(visitor, id).getByText(words).first().waitFor();
}

describeWithBrowser('Wallets in the page', () => {
  beforeAll(async () => {
    anvils = await Promise.all([startAnvil(HOME), startAnvil(AWAY)]);
    nodes = new Map(anvils.map(({ url }, index) => [[HOME, AWAY][index] ?? 0, url]));
    accounts = anvils[0]?.accounts ?? [];
    [service, browser] = await Promise.all([ScriptedService.start({}, chainLines(nodes)), launchBrowser()]);
  });
  beforeEach(() => {
    wallet = new TestWallet('Fox', nodes, accounts.slice(0, 1));
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(anvils.map((anvil) => anvil.close()));
  });

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    const fragment = `surface=${surface}`;

    it('shows what is asked, sends exactly that, and shows what the service verified', async () => {
      await askForPayment({ fragment });
      for (const words of [
        `Send 0.01 ETH to ${FRIEND}`,
        '“Local 31337” (chain 31337)',
        'passed, 21000 gas',
        'Lunch',
      ])
        await cardSays(words);
      expect(wallet.sent).toEqual([]);
      await buttonOf(cardOf(visitor, 1), 'Approve in Fox').click();
      await cardSays('Verified by the service: confirmed.');
      await visitor.hears('I have read the outcome.', 1);
      await visitor.idle();
      const params = wallet.calls
        .filter(({ method }) => method === 'eth_sendTransaction')
        .map((call) => call.params);
      expect(params).toEqual([
        [
          {
            ...{ from: accounts[0]?.toLowerCase(), to: FRIEND.toLowerCase() },
            ...{ value: '0x2386f26fc10000', data: '0x', chainId: '0x7a69' },
          },
        ],
      ]);
      await cardSays(wallet.sent[0] ?? 'no hash');
      await cardSays(/By the wallet: in block \d+\. It succeeded\./);
      expect(await visitor.questions.count()).toBe(1);
    });

    it('reports to the assistant that the person rejected, by the card or in the wallet', async () => {
      await askForPayment({ fragment });
      await buttonOf(cardOf(visitor, 1), 'Reject').click();
      await cardSays('The assistant knows the outcome.');
      await visitor.hears('I have read the outcome.', 1);
      await visitor.idle();
      await visitor.page.locator('.message.system', { hasText: 'as rejected' }).waitFor();

      service.when('Pay again', ...pays(PAYMENT, [2]));
      await visitor.say('Pay again');
      wallet.answers.push({ code: 4001 });
      await buttonOf(cardOf(visitor, 2), 'Approve').click();
      await cardSays('The person declined in the wallet.', 2);
      await visitor.hears('I have read the outcome.', 3);
      await visitor.idle();
      expect(await visitor.questions.count()).toBe(2);
      expect(wallet.sent).toEqual([]);
    });

    it('shows a request again after a reload, and its outcome in the thread', async () => {
      await askForPayment({ fragment });
      await visitor.page.reload();
      await buttonOf(cardOf(visitor, 1), 'Approve in Fox').click();
      await cardSays('Verified by the service: confirmed.');
      await visitor.page.reload();
      await visitor.page.locator('.message.system', { hasText: 'confirmed' }).waitFor();
      expect(await cardOf(visitor, 1).count()).toBe(0);
    });
  });

  it('offers to send nothing again where a turn fails that the wallet began', async () => {
    const [staging = says(''), asking = says('')] = pays(PAYMENT);
    service.when('Pay me', staging, asking, says('Please approve.'), (reply) => {
      reply.json(400, { error: { message: 'no' } });
    });
    visitor = await visitWith(browser, service.url, [wallet]);
    await connect(visitor, 'Fox');
    await visitor.say('Pay me');
    await buttonOf(cardOf(visitor, 1), 'Reject').click();
    const failure = visitor.page.locator('[data-role=system]:not(.of-wallet)');
    await failure.waitFor();
    await visitor.idle();
    expect(await failure.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  it('shows typed data as a tree of text, and what the service found of the signature', async () => {
    const types = {
      EIP712Domain: [{ name: 'name', type: 'string' }],
      Order: [
        { name: 'note', type: 'string' },
        { name: 'amounts', type: 'uint256[]' },
      ],
    };
    const message = {
      note: '<img src=x onerror=alert(1)> \u202e off',
      amounts: Array.from({ length: 200 }, () => 7),
    };
    const data = { types, domain: { name: 'Shop' }, primaryType: 'Order', message };
    service.when('Sign', ...asksToSign({ typed_data: data, description: 'An order' }));
    await visit();
    await connect(visitor, 'Fox');
    await visitor.say('Sign');
    await cardSays('<img src=x onerror=alert(1)> \\u202e off');
    await cardSays(/^Values: 203, of which \d+ are not shown\. The details have all of them as JSON\.$/);
    expect(await cardOf(visitor, 1).locator('.typed-data li').count()).toBeLessThanOrEqual(150);
    expect(await visitor.page.locator('img[src=x]').count()).toBe(0);
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays('Verified by the service: confirmed.');
    const call = wallet.calls.find(({ method }) => method === 'eth_signTypedData_v4');
    expect(JSON.parse(String(call?.params[1]))).toEqual(data);
    // A signature can be worth money: it does not stay in the browser.
    expect(await visitor.page.evaluate('JSON.stringify(localStorage)')).toContain('"proof\\":\\"\\"');
  });

  it('signs a text', async () => {
    service.when('Sign', ...asksToSign({ text: 'I agree. ✓', description: 'The terms' }));
    await visit();
    await connect(visitor, 'Fox');
    await visitor.say('Sign');
    await cardSays('I agree. ✓');
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays('Verified by the service: confirmed.');
  });

  it('warns of an approval of everything, and shows the whole addresses and the calldata', async () => {
    // Its code is one STOP: it takes every call.
    const token = (await anvils[0]?.deploy({ abi: [], bytecode: '0x60016000f3' })) ?? '';
    await askForPayment({}, { to: token, data: APPROVAL, label: 'Only a look' });
    await cardSays(`Allow ${FRIEND} to spend an unlimited amount, or one NFT, of token ${token}`);
    await cardSays('It allows the spender to take all of this token');
    await cardOf(visitor, 1).getByText('Details').click();
    await cardSays(APPROVAL);
    await cardSays(accounts[0] ?? 'no account');
  });

  it('warns where the chain differs, changes it, and says when the wallet does not know it', async () => {
    await askForPayment();
    wallet.chainId = AWAY;
    await emit(visitor.page, 'Fox', 'chainChanged', `0x${AWAY.toString(16)}`);
    await cardSays('Your wallet is on chain 31338; the request is for “Local 31337” (chain 31337).');
    await buttonOf(cardOf(visitor, 1), 'Change chain and approve in Fox').click();
    await cardSays('Verified by the service: confirmed.');
    expect(wallet.chainId).toBe(HOME);

    service.when('Pay there', ...pays({ ...PAYMENT, chain_id: AWAY }, [2]));
    await visitor.say('Pay there');
    wallet.forget(AWAY);
    await buttonOf(cardOf(visitor, 2), 'Change chain and approve').click();
    await cardSays('The wallet does not know this chain: add it in the wallet, then try again.', 2);
    expect(wallet.sent).toHaveLength(1);
    wallet.learn(AWAY);
    await buttonOf(cardOf(visitor, 2), 'Change chain and approve').click();
    await cardSays('Verified by the service: confirmed.', 2);
  });

  it('asks only the account that the request is for', async () => {
    await askForPayment();
    wallet.accounts = accounts.slice(1, 2);
    await emit(visitor.page, 'Fox', 'accountsChanged', wallet.accounts);
    await cardSays(`The request is for ${accounts[0] ?? ''}; the wallet has selected ${FRIEND}.`);
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays(/^The request is for 0xf39f[0-9a-f]{36}: select this account in the wallet\.$/);
    expect(wallet.sent).toEqual([]);
  });

  it('does not ask the wallet for what does not wait any more', async () => {
    await askForPayment();
    await visitor.idle();
    // The page may read the requests by itself: only what it reads after the click is another answer.
    const { page } = visitor;
    await page.evaluate(
      "addEventListener('click', () => { document.body.dataset.clicked = 'yes'; }, { capture: true })",
    );
    await page.route(/\/state\?tail=0$/, async (route) => {
      if ((await page.evaluate('document.body.dataset.clicked')) === 'yes')
        await route.fulfill({ json: { user_state: null } });
      else await route.continue();
    });
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays('This request does not wait any more.');
    expect(wallet.count('eth_sendTransaction')).toBe(0);
  });

  it('lets a prompt that is open be answered, and never sends twice after an unclear response', async () => {
    await askForPayment();
    const card = cardOf(visitor, 1);
    wallet.answers.push({ code: -32_002 });
    await buttonOf(card, 'Approve').click();
    await cardSays('The wallet has an open prompt: open the wallet and finish it there.');
    wallet.answers.push({ code: -32_603, message: 'The\nworker <b>died</b>' });
    await buttonOf(card, 'Approve').click();
    await cardSays('The wallet reported an error: “The worker <b>died</b>”.');
    await cardSays('It may have signed: look at its activity before you ask it again.');
    expect(await buttonOf(card, 'Approve').count()).toBe(0);
    await visitor.page.reload();
    await cardSays('It may have signed');
    expect(await buttonOf(card, 'Approve').count()).toBe(0);
    await buttonOf(card, 'Ask Fox again').click();
    await cardSays('Verified by the service: confirmed.');
    expect(wallet.sent).toHaveLength(1);
  });

  it('lets the person stop waiting for a wallet, whose late response still counts', async () => {
    await askForPayment();
    await visitor.idle();
    const card = cardOf(visitor, 1);
    const prompt = new Gate();
    wallet.answers.push(prompt);
    await visitor.page.clock.install();
    await buttonOf(card, 'Approve').click();
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    expect(await card.locator('.request-actions button').count()).toBe(0);
    await visitor.page.clock.fastForward(21_000);
    await buttonOf(card, 'Stop waiting for the wallet').click();
    await cardSays('It may have signed: look at its activity before you ask it again.');
    await buttonOf(card, 'Reject').waitFor();
    expect(await buttonOf(card, 'Approve').count()).toBe(0);
    prompt.open();
    await cardSays('Verified by the service: confirmed.');
    expect(wallet.sent).toHaveLength(1);
    expect(wallet.count('eth_sendTransaction')).toBe(1);
  });

  it('stops waiting for a second prompt when the first one is approved, and warns of it', async () => {
    await askForPayment();
    await visitor.idle();
    const card = cardOf(visitor, 1);
    const [first, second] = [new Gate(), new Gate()];
    wallet.answers.push(first, second);
    await visitor.page.clock.install();
    await buttonOf(card, 'Approve').click();
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    await visitor.page.clock.fastForward(21_000);
    await buttonOf(card, 'Stop waiting for the wallet').click();
    await buttonOf(card, 'Ask Fox again').click();
    await wallet.until(() => wallet.count('eth_sendTransaction') === 2);
    // The first prompt takes its answer from the queue after the gate.
    wallet.answers.unshift('approve');
    first.open();
    await cardSays('Verified by the service: confirmed.');
    await cardSays('Decline any other prompt that it shows for it.');
    expect(wallet.sent).toHaveLength(1);
    wallet.answers.push({ code: 4001 });
    second.open();
    await visitor.idle();
    await cardSays('Verified by the service: confirmed.');
  });

  it('takes the hash of a transaction whose response was lost with a reload', async () => {
    await askForPayment();
    const prompt = new Gate();
    wallet.answers.push(prompt);
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays('Answer in your wallet.');
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    await visitor.page.reload();
    await cardSays('It may have signed');
    prompt.open();
    await wallet.until(() => wallet.sent.length === 1);
    const field = cardOf(visitor, 1).getByLabel('the transaction’s hash');
    await field.fill('0x12');
    expect(await buttonOf(cardOf(visitor, 1), 'Report it').isDisabled()).toBe(true);
    await field.fill(wallet.sent[0] ?? '');
    await field.press('Enter');
    await cardSays('Verified by the service: confirmed.');
    expect(wallet.sent).toHaveLength(1);
  });

  it('shows that the chain has another transaction than was asked', async () => {
    await askForPayment();
    wallet.answers.push({ result: (await anvils[0]?.send(`0x${'12'.repeat(20)}`, 5n))?.transactionHash });
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardSays('Verified by the service: differs from what was staged.');
    expect(await cardOf(visitor, 1).locator('[data-good=false]').count()).toBe(1);
  });

  it('asks the wallet in one of two tabs alone, and shows the outcome in both', async () => {
    await askForPayment();
    const other = await visitor.another(service.url);
    const prompt = new Gate();
    wallet.answers.push(prompt);
    await buttonOf(cardOf(other, 1), 'Approve').waitFor();
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await cardOf(other, 1)
      .getByText('Another tab of this page is asking the wallet for this request.')
      .waitFor();
    expect(await buttonOf(cardOf(other, 1), 'Approve').count()).toBe(0);
    prompt.open();
    for (const tab of [visitor, other])
      await cardOf(tab, 1).getByText('Verified by the service: confirmed.').waitFor();
    expect(wallet.sent).toHaveLength(1);
    expect(other.faults).toEqual([]);
  });

  it('lets another tab go on when the one that asked is closed', async () => {
    await askForPayment();
    const other = await visitor.another(service.url);
    wallet.answers.push(new Gate());
    await buttonOf(cardOf(other, 1), 'Approve').click();
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    await cardSays('Another tab of this page is asking the wallet for this request.');
    await other.page.close();
    await cardSays('It may have signed');
    await buttonOf(cardOf(visitor, 1), 'Reject').click();
    await cardSays('The assistant knows the outcome.');
  });

  it('asks the wallet once where the browser denies storage and locks', async () => {
    await askForPayment({ hasStorage: false });
    const card = cardOf(visitor, 1);
    await card.getByText('This browser does not let the page store anything.').waitFor();
    const prompt = new Gate();
    wallet.answers.push(prompt, { code: -32_603 });
    const approve = await buttonOf(card, 'Approve').elementHandle();
    await approve.evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
    await cardSays('Answer in your wallet.');
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    prompt.open();
    await cardSays('It may have signed: look at its activity before you ask it again.');
    expect(await buttonOf(card, 'Approve').count()).toBe(0);
    await buttonOf(card, 'Ask Fox again').click();
    await cardSays('Verified by the service: confirmed.');
    expect(wallet.sent).toHaveLength(1);

    service.when('Pay again', ...pays(PAYMENT, [2]));
    await visitor.say('Pay again');
    await buttonOf(cardOf(visitor, 2), 'Reject').click();
    await cardSays('The assistant knows the outcome.', 2);
    expect(wallet.count('eth_sendTransaction')).toBe(2);
  });

  it('follows account and chain, and reports them to the assistant', async () => {
    service.when('Hello', says('Hi.'));
    await visit();
    await connect(visitor, 'Fox');
    const { page } = visitor;
    const panel = page.getByRole('group', { name: 'Browser wallet' });
    await panel.getByText(accounts[0] ?? '').waitFor();
    expect(await page.getByLabel('Wallet address').inputValue()).toBe(accounts[0]);
    await visitor.say('Hello');
    await visitor.hears('Hi.', 0);
    await visitor.idle();
    const told = async (text: string): Promise<void> => {
      const snapshot = await visitor.openTab('Snapshot');
      await visitor.say('Hello');
      await snapshot.getByText(text).first().waitFor();
      await visitor.idle();
    };
    await told(`"address": "${accounts[0] ?? ''}"`);
    wallet.accounts = accounts.slice(2, 3);
    await emit(page, 'Fox', 'accountsChanged', wallet.accounts);
    await panel.getByText(accounts[2] ?? '').waitFor();
    await told(`"address": "${accounts[2] ?? ''}"`);
    wallet.chainId = 1;
    await emit(page, 'Fox', 'chainChanged', '0x1');
    await panel.getByText('Ethereum (chain 1)').waitFor();
    await told('"chain_id": 1');
    await emit(page, 'Fox', 'accountsChanged', []);
    await panel.getByRole('button', { name: 'Connect Fox' }).waitFor();
    await told('"is_connected": false');
    expect(await page.getByLabel('Wallet address').inputValue()).toBe('');
  });
});
