import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { describeWithBrowser } from '../support/browser.js';
import { ScriptedService } from './scripted-service.js';
import { findingsOf, type Visitor } from './visitor.js';
import { Visits } from './visits.js';
import { TestWallet } from './wallet-browser.js';
import { buttonOf, cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const CHAIN = 31_337;
const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let anvil: Anvil;
let nodes: ReadonlyMap<number, string>;
const visits = new Visits();

function walletOf(): TestWallet {
  return new TestWallet('Fox', nodes, anvil.accounts.slice(0, 1));
}

async function visit(wallet: TestWallet, fragment: string): Promise<Visitor> {
  return visits.add(await visitWith(visits.browser, visits.service.url, [wallet], { fragment }));
}

/** Begins a thread that asks the visitor's account for a payment, by somebody without a wallet. @returns its id */
async function beginThread(): Promise<string> {
  visits.service.when('Pay', ...pays({ to: FRIEND, value: '0.01', label: 'Lunch' }));
  const session = randomUUID();
  const response = await fetch(`${visits.service.url}/current/api/chat`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, Prefer: 'wait=60', 'Content-Type': 'application/json' },
    body: JSON.stringify({ message: 'Pay', user_state: { address: anvil.accounts[0], chain_id: CHAIN } }),
  });
  expect(await response.json()).toMatchObject({
    is_processing: false,
    user_state: { pending_txs: { 1: {} } },
  });
  return session;
}

describeWithBrowser('A wallet request in a thread that was opened by a link', () => {
  visits.serve(async () => {
    anvil = await startAnvil(CHAIN);
    nodes = new Map([[CHAIN, anvil.url]]);
    return ScriptedService.start({}, chainLines(nodes));
  });
  afterAll(() => anvil.close());

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    it('can only be read until the visitor uses the wallet in the thread', async () => {
      const session = await beginThread();
      const fox = walletOf();
      const guest = await visit(fox, `session=${session}&surface=${surface}`);
      const card = cardOf(guest, 1);
      await card.getByText('Answer the notice at the top first').waitFor();
      await card.getByText('Send 0.01 ETH').waitFor();
      expect(await card.locator('.request-actions button').count()).toBe(0);

      await connect(guest, 'Fox');
      await guest.button('Use my wallet here').waitFor();
      expect(await card.locator('.request-actions button').count()).toBe(0);
      expect(await findingsOf(guest.page)).toEqual([]);

      await guest.button('Continue without it').click();
      await card.getByText('Your wallet is not used in this thread').waitFor();
      expect(await card.locator('.request-actions button').allInnerTexts()).toEqual([
        'Use my wallet in this thread',
      ]);
      expect(await findingsOf(guest.page)).toEqual([]);
      await guest.page.reload();
      await card.getByText('Your wallet is not used in this thread').waitFor();

      await buttonOf(card, 'Use my wallet in this thread').click();
      await buttonOf(card, 'Approve in Fox').click();
      await card.getByText('Verified by the service: confirmed.').waitFor();
      expect(fox.sent).toHaveLength(1);
    });

    it('can be rejected once the visitor has agreed to use the wallet', async () => {
      const session = await beginThread();
      const fox = walletOf();
      const guest = await visit(fox, `session=${session}&surface=${surface}`);
      await connect(guest, 'Fox');
      await guest.button('Use my wallet here').click();
      await buttonOf(cardOf(guest, 1), 'Reject').click();
      await cardOf(guest, 1).getByText('The assistant knows the outcome.').waitFor();
      expect(fox.sent).toEqual([]);
    });
  });
});
