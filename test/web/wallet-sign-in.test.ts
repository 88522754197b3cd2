import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeWithBrowser, launchBrowser } from '../support/browser.js';
import { freePort } from '../support/server-process.js';
import { ScriptedService } from './scripted-service.js';
import type { Visitor } from './visitor.js';
import type { TestWallet } from './wallet-browser.js';
import { useChain } from './wallet-chain.js';
import { cardOf, chainLines, connect, pays, visitWith } from './wallet-page.js';

jest.setTimeout(60_000);

const DAY_MS = 24 * 60 * 60_000;
const FRIEND = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const { nodes, addressOf, walletOf } = useChain();
let browser: Browser;
let visitor: Visitor;

describeWithBrowser('A service that asks wallets to sign in', () => {
  let proven: ScriptedService;
  beforeAll(async () => {
    const port = String(await freePort());
    const env = { PORT: port, WALLET_PROOF: 'required', WALLET_PROOF_DOMAINS: `127.0.0.1:${port}` };
    [proven, browser] = await Promise.all([ScriptedService.start(env, chainLines(nodes)), launchBrowser()]);
  });
  afterAll(() => proven.close());

  /** Opens the page with a wallet, and signs in. */
  async function signedIn(wallet: TestWallet, options?: Parameters<typeof visitWith>[3]): Promise<Page> {
    visitor = await visitWith(browser, proven.url, [wallet], options);
    visitor.excuse(/status of 401/);
    await connect(visitor, 'Fox');
    await visitor.button('Sign in').click();
    await visitor.page.getByText('No threads yet.').waitFor();
    return visitor.page;
  }

  describe.each(['current', 'legacy'])('on the %s surface', (surface) => {
    it('gets a proof of the connected account, binds threads with it and lists them', async () => {
      const fox = walletOf('Fox', surface === 'current' ? 2 : 3);
      proven.when('Pay', ...pays({ to: FRIEND, value: '1 wei' }));
      visitor = await visitWith(browser, proven.url, [fox], { fragment: `surface=${surface}` });
      const { page } = visitor;
      await connect(visitor, 'Fox');
      fox.answers.push({ code: 4001 });
      await visitor.button('Sign in').click();
      await page.getByRole('alert').filter({ hasText: 'You declined in the wallet.' }).waitFor();
      await visitor.button('Sign in').click();
      await page.getByText('No threads yet.').waitFor();
      await visitor.say('Pay');
      await cardOf(visitor, 1)
        .getByRole('button', { name: /^Approve/ })
        .click();
      await cardOf(visitor, 1).getByText('Verified by the service: confirmed.').waitFor();
      await visitor.button('Rename A made-up title').waitFor();

      const proof: unknown = await page.evaluate(
        "JSON.parse(sessionStorage.getItem('diptych.wallet-proof')).proof",
      );
      const requests = await visitor.openTab('Requests');
      await requests.getByText('X-Wallet-Proof: $WALLET_PROOF').first().waitFor();
      expect(await page.locator('body').innerText()).not.toContain(proof);
      await page.reload();
      await visitor.button('Rename A made-up title').waitFor();
      expect(fox.count('personal_sign')).toBe(2);

      fox.accounts = [addressOf(5)];
      await page.evaluate(`testProviders.Fox.emit('accountsChanged', ['${addressOf(5)}'])`);
      await visitor.button('Sign in').waitFor();
      expect(await page.getByRole('button', { name: /^Rename/ }).count()).toBe(0);
      await visitor.leave();
      // The browser itself reports the one request without a proof.
      expect(visitor.faults).toEqual([expect.stringContaining('status of 401')]);
    });
  });

  it('is asked again for a proof once it refuses the one that the tab keeps', async () => {
    const page = await signedIn(walletOf('Fox', 4));
    await page.evaluate(
      'sessionStorage[\'diptych.wallet-proof\'] = sessionStorage[\'diptych.wallet-proof\'].replace(/"proof":"[^"]*/, \'"proof":"refused\')',
    );
    await page.reload();
    await visitor.button('Sign in').waitFor();
    expect(await page.evaluate("sessionStorage['diptych.wallet-proof']")).toBeUndefined();
    await visitor.button('Sign in').click();
    await page.getByText('No threads yet.').waitFor();
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });

  it('is asked again for a proof once it refuses a message for it', async () => {
    const page = await signedIn(walletOf('Fox', 6));
    // As if the proof had expired when the message is sent.
    let hasExpired = false;
    await page.route('**/current/api/**', (route) => {
      const request = route.request();
      const headers = request.headers();
      hasExpired ||= request.url().endsWith('/chat');
      const isRefused = hasExpired && 'x-wallet-proof' in headers;
      return route.continue(isRefused ? { headers: { ...headers, 'x-wallet-proof': 'expired' } } : {});
    });
    await visitor.say('Hello');
    await page.getByRole('alert').filter({ hasText: 'The proof is not valid' }).waitFor();
    await visitor.button('Sign in').waitFor();
    await page.unroute('**/current/api/**');
    await visitor.button('Sign in').click();
    await page.getByText('No threads yet.').waitFor();
    await visitor.composer.press('Enter');
    await visitor.hears('You said: Hello', 0);
    await visitor.button('Rename A made-up title').waitFor();
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });

  it('signs in a browser whose clock is two days ahead', async () => {
    const fox = walletOf('Fox', 7);
    const page = await signedIn(fox, { clockAhead: 2 * DAY_MS });
    await page.reload();
    await page.getByText('No threads yet.').waitFor();
    expect(fox.count('personal_sign')).toBe(1);
    await visitor.leave();
    expect(visitor.faults).toEqual([]);
  });
});
