import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { Gate } from '../support/gate.js';
import { ScriptedService } from './scripted-service.js';
import type { Visitor } from './visitor.js';
import { TestWallet } from './wallet-browser.js';
import { buttonOf, cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const CHAIN = 31_337;
const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let anvil: Anvil;
let service: ScriptedService;
let browser: Browser;
let wallet: TestWallet;
let visitor: Visitor;

describeWithBrowser('A wallet request over a crash of the service', () => {
  beforeAll(async () => {
    anvil = await startAnvil(CHAIN);
    const nodes = new Map([[CHAIN, anvil.url]]);
    [service, browser] = await Promise.all([ScriptedService.start({}, chainLines(nodes)), launchBrowser()]);
  });
  beforeEach(() => {
    wallet = new TestWallet('Fox', new Map([[CHAIN, anvil.url]]), anvil.accounts.slice(0, 1));
  });
  afterEach(async () => {
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
  afterAll(async () => {
    await service.close();
    await anvil.close();
  });

  /** Lets the person approve while the service is killed; the wallet has sent the transaction then. */
  async function approveOverKill(surface: string): Promise<void> {
    service.when('Pay', ...pays({ to: FRIEND, value: '1 wei' }));
    const fragment = `surface=${surface}`;
    visitor = await visitWith(browser, service.url, [wallet], { fragment, mayBeAway: true });
    await connect(visitor, 'Fox');
    await visitor.say('Pay');
    const prompt = new Gate();
    wallet.answers.push(prompt);
    await buttonOf(cardOf(visitor, 1), 'Approve').click();
    await wallet.until(() => wallet.count('eth_sendTransaction') === 1);
    await visitor.idle();
    await service.kill();
    prompt.open();
    await cardOf(visitor, 1).getByText('The service does not respond. The outcome is kept here').waitFor();
  }

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    it('reports the outcome once the service is back', async () => {
      await approveOverKill(surface);
      expect(await buttonOf(cardOf(visitor, 1), 'Approve').count()).toBe(0);
      await service.restart();
      await cardOf(visitor, 1).getByText('Verified by the service: confirmed.').waitFor();
      await visitor.hears('I have read the outcome.', 1);
      await visitor.idle();
      expect(wallet.sent).toHaveLength(1);
    });
  });

  it('says that the service is away only as long as it is', async () => {
    service.when('Pay', ...pays({ to: FRIEND, value: '1 wei' }));
    visitor = await visitWith(browser, service.url, [wallet], { mayBeAway: true });
    await connect(visitor, 'Fox');
    await visitor.say('Pay');
    const card = cardOf(visitor, 1);
    await card.waitFor();
    await visitor.idle();
    await service.kill();
    await buttonOf(card, 'Approve').click();
    const problem = card.getByText('cannot be reached');
    await problem.waitFor();
    await service.restart();
    await problem.waitFor({ state: 'detached' });
    await buttonOf(card, 'Approve').click();
    await card.getByText('Verified by the service: confirmed.').waitFor();
    expect(wallet.sent).toHaveLength(1);
  });

  it('reports the outcome at the next visit, of whatever thread, when the tab was closed before', async () => {
    await approveOverKill('current');
    const session = visitor.sessionId;
    const keeper = await visitor.page.context().newPage();
    await visitor.page.close();
    await service.restart();
    await keeper.goto(`${service.url}/#session=${randomUUID()}&surface=current`);
    await keeper.getByRole('button', { name: 'Inspector', exact: true }).click();
    await keeper.getByText('/current/api/system').first().waitFor();
    await keeper.goto(`${service.url}/#session=${session}&surface=current`);
    await keeper.locator('.message.system', { hasText: 'confirmed' }).waitFor();
    await keeper.locator('[data-role=assistant]').filter({ hasText: 'I have read the outcome.' }).waitFor();
    expect(wallet.sent).toHaveLength(1);
    const kept: unknown = await keeper.evaluate(
      "Object.entries(localStorage).filter(([key]) => key.startsWith('diptych.wallet-request')).map(([, value]) => JSON.parse(value).reportedAt > 0)",
    );
    expect(kept).toEqual([true]);
  });
});
