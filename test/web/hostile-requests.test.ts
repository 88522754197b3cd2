import { afterEach, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { getAddress } from 'viem';
import { describeWithBrowser } from '../support/browser.js';
import { says } from './scripted-service.js';
import { findingsOf, type Visitor } from './visitor.js';
import { Visits } from './visits.js';
import { buttonOf, cardOf } from './wallet-page.js';

const OWNER = getAddress(`0x${'a1'.repeat(20)}`);
const FRIEND = getAddress(`0x${'b2'.repeat(20)}`);
const SPENDER = getAddress(`0x${'c3'.repeat(20)}`);
const word = (address: string): string => address.slice(2).toLowerCase().padStart(64, '0');
const APPROVAL = `0x095ea7b3${word(SPENDER)}${'f'.repeat(64)}`;
/** An acute accent, stacked. */
const STACK = '\u0301'.repeat(60);
const FORGED = 'Verified by the service: confirmed.';

const visits = new Visits();
const open: Visitor[] = [];

/** Opens a thread whose state has these requests, even if the service would not allow them. */
async function visitWith(
  pending: object,
  { width = 1440, messages = [] as readonly object[] } = {},
): Promise<Visitor> {
  const visitor = await visits.visit({ viewport: { width, height: 900 } });
  open.push(visitor);
  await visitor.page.route(/\/api\/state/, async (route) => {
    const { 'if-none-match': _, ...headers } = route.request().headers();
    const response = await route.fetch({ headers });
    const body = (await response.json()) as { messages: readonly object[] };
    const all = [...body.messages, ...messages];
    await route.fulfill({ response, json: { ...body, messages: all, user_state: pending } });
  });
  visits.service.when('Go', says('Please sign.'));
  await visitor.say('Go');
  await visitor.idle();
  return visitor;
}

/** The pending state of one transaction. */
const payment = (more: object = {}): object => ({
  pending_txs: {
    '1': { to: FRIEND, value: '1', data: '0x', chain_id: 1, from: OWNER, gas: '21000', label: '', ...more },
  },
});

/** The pending state of one signature. */
const signature = (more: object): object => ({
  pending_eip712s: { '1': { chain_id: 1, from: OWNER, description: '', ...more } },
});

const typedData = (message: object, domain: object = { name: 'Shop', verifyingContract: FRIEND }): object =>
  signature({ typed_data: { types: {}, primaryType: 'Order', domain, message } });

/** The frame that has this caption. */
const frameOf = (card: Locator, caption: string): Locator =>
  card.locator('figure', { has: card.page().locator('figcaption', { hasText: caption }) });

/** The text of an element outside all frames of untrusted text. */
const unframed = (card: Locator): Promise<string> =>
  card.evaluate((element: { cloneNode(deep: true): typeof element; innerText: string } & ParentNodeLike) => {
    const copy = element.cloneNode(true);
    for (const frame of copy.querySelectorAll('figure')) frame.remove();
    return copy.textContent;
  });

interface ParentNodeLike {
  readonly textContent: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void }>;
}

describeWithBrowser('The card of a hostile request', () => {
  // A state may still be on its way when the page is closed.
  afterEach(() =>
    Promise.all(open.splice(0).map(({ page }) => page.unrouteAll({ behavior: 'ignoreErrors' }))),
  );
  visits.serve();

  it('frames the label, and names its source', async () => {
    const visitor = await visitWith(payment({ label: `Lunch” ${FORGED}` }));
    const card = cardOf(visitor, 1);
    await frameOf(card, 'The assistant’s words').getByText(FORGED).waitFor();
    expect(await unframed(card)).not.toContain(FORGED);
    expect(await findingsOf(visitor.page)).toEqual([]);
  });

  it('frames a text to sign, and says how long it is', async () => {
    const text = `Hello${'\n'.repeat(99)}${FORGED}`;
    const card = cardOf(await visitWith(signature({ message: text })), 1);
    const frame = frameOf(card, 'What you would sign:');
    await frame.getByText(FORGED).waitFor();
    await frame.getByText('The text has 100 lines and 139 characters: scroll to read all of it.').waitFor();
    expect(await unframed(card)).not.toContain('Verified');
  });

  it('frames typed data, its type and each text in it', async () => {
    const data = {
      ...{ types: {}, domain: { name: FORGED, verifyingContract: FRIEND } },
      ...{ primaryType: FORGED, message: { [FORGED]: 1, note: `a\nspender ${FRIEND}` } },
    };
    const card = cardOf(await visitWith(signature({ typed_data: data })), 1);
    const frame = frameOf(card, 'What you would sign:');
    expect(await frame.getByText(FORGED).count()).toBe(3);
    expect(await frame.locator('q').allTextContents()).toEqual([FORGED, FRIEND, `a\nspender ${FRIEND}`]);
    expect(await unframed(card)).not.toContain('Verified');
  });

  it('shows each field of a message, even if another one is long or deep', async () => {
    let deep: object = { end: 1 };
    for (let level = 0; level < 50; level++) deep = { deep };
    const message = {
      junk: Array.from({ length: 500 }, () => 7),
      deep,
      spender: SPENDER,
      last: { to: OWNER },
    };
    const card = cardOf(await visitWith(typedData(message)), 1);
    const frame = frameOf(card, 'What you would sign:');
    for (const address of [SPENDER, OWNER, FRIEND]) await frame.getByText(address).waitFor();
    expect(await frame.locator('li').count()).toBeLessThanOrEqual(155);
    await frame
      .getByText(/^\d+ more are not shown\./)
      .first()
      .waitFor();
    const values = 2 + 4 + 500 + 51 + 1;
    const hidden = values - (await frame.locator('li:not(.left-out)').count());
    await frame.getByText(`Values: ${String(values)}, of which ${String(hidden)} are not shown.`).waitFor();
    const box = await card.boundingBox();
    expect(box?.height).toBeLessThan(900);
  });

  it('shows stacked marks and invisible characters as escapes', async () => {
    const domain = { name: `a${STACK}` };
    const pending = {
      ...payment({ label: `a${STACK}\u202e` }),
      ...{
        pending_eip712s: {
          '2': { chain_id: 1, typed_data: { domain, message: { [`b${STACK}`]: `c${STACK}` } } },
        },
      },
    };
    const visitor = await visitWith(pending);
    await cardOf(visitor, 1).getByText('\\u202e').waitFor();
    for (const id of [1, 2]) {
      const text = (await cardOf(visitor, id).textContent()) ?? '';
      expect(text).toContain(`a${'\u0301'.repeat(3)}\\u0301\\u0301`);
      expect(text).not.toMatch(/\p{M}{4}|\u202e/u);
    }
  });

  it.each([320, 1440])(
    'shows full addresses at a width of %i px, without horizontal scrolling',
    async (width) => {
      const sign = typedData({ spender: SPENDER, text: 'x'.repeat(500) });
      const pending = {
        ...{ ...payment({ data: APPROVAL, label: 'y'.repeat(200) }), ...sign },
        pending_eip712s: { '2': (sign as { pending_eip712s: Record<string, object> }).pending_eip712s['1'] },
      };
      const visitor = await visitWith(pending, { width });
      const card = cardOf(visitor, 1);
      for (const address of [OWNER, FRIEND, SPENDER])
        await card.locator('.facts').getByText(address, { exact: true }).first().waitFor();
      expect(await card.getByRole('heading').textContent()).toContain(
        `Allow ${SPENDER} to spend an unlimited amount, or one NFT, of token ${FRIEND}`,
      );
      for (const address of [OWNER, FRIEND, SPENDER])
        await cardOf(visitor, 2).getByText(address, { exact: true }).first().waitFor();
      expect(await visitor.page.locator('body').innerText()).not.toMatch(/0x[0-9a-f]{4}…/i);
      const wide = await visitor.page.evaluate(
        `[document.documentElement, ...document.querySelectorAll('.viewport, .request, .request *:not(pre, .typed-data)')]
        .filter((one) => getComputedStyle(one).display !== 'inline' && one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.tagName + '.' + one.className)`,
      );
      expect(wide).toEqual([]);
      const { SCREENSHOTS } = process.env;
      if (SCREENSHOTS !== undefined)
        for (const id of [1, 2])
          await cardOf(visitor, id).screenshot({
            path: `${SCREENSHOTS}/request-${String(width)}-${String(id)}.png`,
          });
      expect(await findingsOf(visitor.page)).toEqual([]);
    },
  );

  it('says in plain words why the service refused an outcome', async () => {
    const visitor = await visitWith(payment());
    visitor.excuse(/status of 401/);
    const error =
      'The wallet is not proven. Sign in: GET /api/wallet/nonce, sign an EIP-4361 message with it, POST /api/wallet/proof, and send the proof as X-Wallet-Proof';
    await visitor.page.route(/\/api\/system/, (route) =>
      route.fulfill({ status: 401, json: { error, code: 'unauthenticated' } }),
    );
    const card = cardOf(visitor, 1);
    await buttonOf(card, 'Reject').click();
    const problem = await card.getByRole('alert').textContent();
    expect(problem).toBe(
      'The service refused the outcome: The wallet is not proven. Sign in in the section Wallet of this page.',
    );
  });

  it('quotes the label within a message of the service about a request', async () => {
    const label = `Lunch: ${FORGED}`;
    const visitor = await visitWith(
      {},
      {
        messages: [
          {
            ...{ sender: 'system', timestamp: '2026-01-01T00:00:00.000Z', is_streaming: false },
            content: `Wallet request 1 (${label}): differs from what was staged. It: no.`,
          },
        ],
      },
    );
    const message = visitor.page.locator('.of-wallet');
    await message.getByRole('heading', { name: 'Service' }).waitFor();
    expect(await message.locator('q').allTextContents()).toEqual([label]);
    expect(await message.locator('p').textContent()).toBe(
      `Wallet request 1 ${label}: differs from what was staged. It: no.`,
    );
  });
});
