import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { walletSignatures } from '../../src/adapters/evm/wallet-signatures.js';
import type { Tool } from '../../src/core/ports.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { getTime } from '../support/tools.js';

const DOMAIN = 'app.example.org';
const alice = privateKeyToAccount(generatePrivateKey());
const bob = privateKeyToAccount(generatePrivateKey());
const wallet = alice.address.toLowerCase();

type Fields = Partial<Parameters<typeof createSiweMessage>[0]>;

let house: House;

/** A field that must be text. */
function fieldOf(json: unknown, name: string): string {
  const value = objectOf(json)[name];
  if (typeof value !== 'string') throw new Error(`${name} is no text`);
  return value;
}

/** Says which wallet a call gets. */
const whose: Tool = {
  ...getTime,
  name: 'whose',
  run: (_, { wallet: given }) => Promise.resolve({ wallet: given }),
};

/** What a wallet sends to sign in. */
async function signed(fields: Fields = {}, signer = alice) {
  const { json } = await house.ask('GET', '/api/wallet/nonce');
  const message = createSiweMessage({
    address: alice.address,
    chainId: 1,
    domain: DOMAIN,
    nonce: fieldOf(json, 'nonce'),
    uri: `https://${DOMAIN}`,
    version: '1',
    ...fields,
  });
  return { message, signature: await signer.signMessage({ message }) };
}

async function signIn(fields: Fields = {}, signer = alice) {
  const body = await signed(fields, signer);
  return { body, answer: await house.ask('POST', '/api/wallet/proof', { body }) };
}

async function proofOf(fields: Fields = {}, signer = alice): Promise<string> {
  const { answer } = await signIn(fields, signer);
  expect(answer.status).toBe(200);
  return fieldOf(answer.json, 'proof');
}

const proven = (proof: string) => ({ headers: { 'X-Wallet-Proof': proof } });
const listing = `/api/sessions?public_key=${alice.address}`;

describe('where wallets have to sign in', () => {
  beforeEach(async () => {
    const walletSignIn = { signatures: walletSignatures([]), domains: [DOMAIN] };
    house = await openHouse({ walletSignIn, tools: [whose] });
  });
  afterEach(() => house.close());

  it('gives a proof for a signature', async () => {
    const { answer } = await signIn();
    expect([answer.status, answer.json]).toEqual([
      200,
      { proof: expect.any(String), public_key: wallet, expires_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
  });

  it('lists and binds with the proof alone', async () => {
    const proof = await proofOf();
    const session = randomUUID();
    for (const [method, path] of [
      ['GET', listing],
      ['POST', `/api/sessions?public_key=${alice.address}`],
      ['POST', `/api/chat?message=Hello&public_key=${alice.address}`],
    ] as const) {
      const without = await house.ask(method, path, { session });
      expect([without.status, objectOf(without.json).code]).toEqual([401, 'unauthenticated']);
      const garbage = await house.ask(method, path, { session, ...proven('x'.repeat(80)) });
      expect(garbage.status).toBe(401);
    }
    expect((await house.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
    const made = await house.ask('POST', '/api/sessions', {
      session,
      body: { public_key: alice.address },
      ...proven(proof),
    });
    expect(made.status).toBe(200);
    const listed = await house.ask('GET', listing, { session: randomUUID(), ...proven(proof) });
    expect(listed.json).toEqual([{ session_id: session, title: 'New Chat' }]);
  });

  it('needs no proof for what the session is bound to, nor for a session without a wallet', async () => {
    const session = randomUUID();
    const path = `/api/chat?message=Hello&public_key=${alice.address}`;
    const first = await house.ask('POST', path, { session, ...proven(await proofOf()) });
    const second = await house.ask('POST', path, { session });
    const free = await house.ask('POST', '/api/chat?message=Hello', { session: randomUUID() });
    expect([first.status, second.status, free.status]).toEqual([200, 200, 200]);
  });

  it('takes no proof of another wallet', async () => {
    const proof = await proofOf({ address: bob.address }, bob);
    const answer = await house.ask('GET', listing, { session: randomUUID(), ...proven(proof) });
    expect([answer.status, objectOf(answer.json).code]).toEqual([403, 'forbidden']);
  });

  it('shows the other threads of a wallet on the legacy surface with a proof alone', async () => {
    const proof = await proofOf();
    const [one, two] = [randomUUID(), randomUUID()];
    for (const session of [one, two]) {
      const options = { session, body: { public_key: wallet }, ...proven(proof) };
      await house.ask('POST', '/api/sessions', options);
    }
    for (const base of ['', '/legacy']) {
      const idsFor = async (options: object): Promise<unknown> => {
        const { json } = await house.ask('GET', `${base}/api/sessions/${one}`, options);
        const { threads } = objectOf(json);
        return Array.isArray(threads) && threads.map((thread) => objectOf(thread).id);
      };
      expect(await idsFor({})).toEqual([one]);
      expect(await idsFor(proven(proof))).toEqual([one, two]);
    }
  });

  it('takes each nonce once, also when it comes twice at the same time', async () => {
    const { body, answer } = await signIn();
    const again = await house.ask('POST', '/api/wallet/proof', { body });
    expect([answer.status, again.status]).toEqual([200, 401]);
    const another = { body: await signed() };
    const both = await Promise.all([1, 2, 3].map(() => house.ask('POST', '/api/wallet/proof', another)));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('gives tools the bound wallet, and not one that is only said to be connected', async () => {
    const session = randomUUID();
    const userState = { evm: { address: wallet }, connection: { is_connected: true } };
    const state = `/api/state?user_state=${encodeURIComponent(JSON.stringify(userState))}`;
    expect((await house.ask('GET', state, { session })).status).toBe(200);
    const call = { session, body: { name: 'whose' } };
    expect((await house.ask('POST', '/api/tools', call)).json).toMatchObject({ result: { wallet: null } });
    const options = { session, body: { public_key: wallet }, ...proven(await proofOf()) };
    expect((await house.ask('POST', '/api/sessions', options)).status).toBe(200);
    expect((await house.ask('POST', '/api/tools', call)).json).toMatchObject({ result: { wallet } });
  });

  it.each<[string, Fields, 'alice' | 'bob', number]>([
    ['another site', { domain: 'evil.example.org' }, 'alice', 401],
    ['an expired message', { expirationTime: new Date(1_000) }, 'alice', 401],
    ['a message of tomorrow', { notBefore: new Date(Date.now() + 86_400_000) }, 'alice', 401],
    ['a nonce of its own', { nonce: 'abcdefgh12345678' }, 'alice', 401],
    ['the signature of another', {}, 'bob', 401],
  ])('refuses %s', async (_, fields, signer, status) => {
    const { answer } = await signIn(fields, signer === 'bob' ? bob : alice);
    expect(answer.status).toBe(status);
    expect(objectOf(answer.json).error).toContain('/api/wallet/nonce');
  });

  it('refuses what is no message', async () => {
    for (const body of [{}, { message: 'Hello', signature: '0x00' }, { message: 5, signature: '0x00' }]) {
      expect((await house.ask('POST', '/api/wallet/proof', { body })).status).toBe(400);
    }
  });

  it('logs neither proof nor signature', async () => {
    const { body, answer } = await signIn();
    expect(house.log()).not.toContain(body.signature);
    expect(house.log()).not.toContain(fieldOf(answer.json, 'proof'));
  });
});

describe('where wallets are taken at their word', () => {
  beforeEach(async () => {
    house = await openHouse();
  });
  afterEach(() => house.close());

  it('has nothing to sign', async () => {
    const nonce = await house.ask('GET', '/api/wallet/nonce');
    const proof = await house.ask('POST', '/api/wallet/proof', { body: { message: 'a', signature: '0x' } });
    expect([nonce.status, proof.status]).toEqual([404, 404]);
    const listed = await house.ask('GET', listing, { session: randomUUID() });
    expect([listed.status, listed.json]).toEqual([200, []]);
  });
});
