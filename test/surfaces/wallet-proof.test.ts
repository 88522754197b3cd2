import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { walletSignatures } from '../../src/adapters/tools/evm/wallets/wallet-signatures.js';
import type { Tool } from '../../src/core/ports/tool.js';
import type { WalletSignatures } from '../../src/core/ports/wallet-signatures.js';
import { testApp } from '../support/core.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { getTime } from '../support/tools.js';
import { ANY, chainsAt } from '../support/wallet-house.js';

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
    const walletSignIn = { signatures: walletSignatures([]), domains: [DOMAIN], homeChain: null };
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

  it('binds a branch with the proof alone', async () => {
    const session = randomUUID();
    const proof = await proofOf();
    const bound = { session, body: { public_key: alice.address }, ...proven(proof) };
    expect((await house.ask('POST', '/api/sessions', bound)).status).toBe(200);
    const path = `/api/sessions/${session}/branch`;
    expect((await house.ask('POST', path)).status).toBe(401);
    const others = await proofOf({ address: bob.address }, bob);
    expect((await house.ask('POST', path, proven(others))).status).toBe(403);
    const { status, json } = await house.ask('POST', path, proven(proof));
    expect(status).toBe(200);
    const listed = await house.ask('GET', listing, { session, ...proven(proof) });
    expect(listed.json).toContainEqual({ session_id: fieldOf(json, 'session_id'), title: 'New Chat' });
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

  it('offers wallet requests for a wallet with a proof, not for one that a client claims', async () => {
    await house.close();
    const walletSignIn = { signatures: walletSignatures([]), domains: [DOMAIN], homeChain: null };
    const apps = [testApp({ wallet: ANY })];
    house = await openHouse({ walletSignIn, apps, chains: chainsAt('http://127.0.0.1:9') });
    const offered = async (path: string, session: string, headers = {}) => {
      expect((await house.ask('POST', path, { session, headers })).status).toBe(200);
      const { request } = (await house.rig.next()).text('Hello').end();
      return request.tools.map(({ name }) => name);
    };
    const claimed = encodeURIComponent(JSON.stringify({ address: alice.address, is_connected: true }));
    expect(await offered(`/api/chat?message=Hello&user_state=${claimed}`, randomUUID())).toEqual([]);
    const { headers } = proven(await proofOf());
    const path = `/api/chat?message=Hello&public_key=${alice.address}`;
    expect(await offered(path, randomUUID(), headers)).toContain('request_transactions');
  });

  it('asks no wallet to sign a message that would sign in', async () => {
    await house.close();
    const walletSignIn = { signatures: walletSignatures([]), domains: [DOMAIN], homeChain: null };
    const apps = [testApp({ wallet: ANY })];
    house = await openHouse({ walletSignIn, apps, chains: chainsAt('http://127.0.0.1:9') });
    const session = randomUUID();
    const bound = { session, body: { public_key: alice.address }, ...proven(await proofOf()) };
    expect((await house.ask('POST', '/api/sessions', bound)).status).toBe(200);
    const { message } = await signed();
    const asked = async (text: string): Promise<unknown> => {
      const body = { name: 'request_signature', args: { text, description: 'Confirm the order' } };
      const { json } = await house.ask('POST', '/api/tools', { session, body });
      return objectOf(json).error ?? objectOf(objectOf(json).result).requested;
    };
    const hex = Buffer.from(message).toString('hex');
    for (const text of [message, `\n${message} `, hex, `0x${hex.toUpperCase()}`])
      expect(await asked(text)).toBe(
        'The text is a sign-in message (EIP-4361): nobody can be asked to sign it here',
      );
    expect(await asked(`Do you agree?\n${message}`)).toEqual([1]);
    expect(await asked('0x1234')).toEqual([2]);
  });

  it.each([
    [1, 'The signature could sign in for a contract wallet'],
    [null, undefined],
  ])(
    'asks nobody to sign for a contract that may sign in: with the home chain %j',
    async (homeChain, words) => {
      await house.close();
      const walletSignIn = { signatures: walletSignatures([]), domains: [DOMAIN], homeChain };
      const apps = [testApp({ wallet: ANY })];
      house = await openHouse({ walletSignIn, apps, chains: chainsAt('http://127.0.0.1:9') });
      const session = randomUUID();
      const bound = { session, body: { public_key: alice.address }, ...proven(await proofOf()) };
      expect((await house.ask('POST', '/api/sessions', bound)).status).toBe(200);
      const safeMessage = {
        types: {
          EIP712Domain: [{ name: 'verifyingContract', type: 'address' }],
          SafeMessage: [{ name: 'message', type: 'bytes' }],
        },
        primaryType: 'SafeMessage',
        domain: { verifyingContract: bob.address },
        message: { message: `0x${'12'.repeat(32)}` },
      };
      for (const args of [{ typed_data: safeMessage }, { text: 'a hash has as many bytes as this' }]) {
        const body = { name: 'request_signature', args: { ...args, description: 'Confirm the order' } };
        const { json } = await house.ask('POST', '/api/tools', { session, body });
        const { error } = objectOf(json);
        if (words === undefined) expect(error).toBeUndefined();
        else expect(error).toContain(words);
      }
    },
  );

  it('needs no proof for what the session is bound to, nor for a session without a wallet', async () => {
    const session = randomUUID();
    const path = `/api/chat?message=Hello&public_key=${alice.address}`;
    const first = await house.ask('POST', path, { session, ...proven(await proofOf()) });
    const second = await house.ask('POST', path, { session });
    const free = await house.ask('POST', '/api/chat?message=Hello', { session: randomUUID() });
    expect([first.status, second.status, free.status]).toEqual([200, 200, 200]);
  });

  it('refuses a proof of another wallet', async () => {
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

  it('takes a nonce once, however it is spelled', async () => {
    const { json } = await house.ask('GET', '/api/wallet/nonce');
    const nonce = fieldOf(json, 'nonce');
    const [key, sealed] = [nonce.slice(0, 16), nonce.slice(16)];
    const spellings = [key + sealed.toUpperCase(), `${nonce}z`, `${nonce}zz`, `${nonce}a`, nonce];
    const statuses: number[] = [];
    for (const spelling of spellings) {
      const { answer } = await signIn({ nonce: spelling });
      statuses.push(answer.status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(spellings.length - 1);
  });

  it('distinguishes two nonces of the same millisecond', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    try {
      const bodies = [await signed(), await signed()];
      for (const body of bodies) {
        expect((await house.ask('POST', '/api/wallet/proof', { body })).status).toBe(200);
      }
    } finally {
      clock.mockRestore();
    }
  });

  it('refuses a proof that is too long to be one', async () => {
    const proof = `${await proofOf()}${'A'.repeat(2_000)}`;
    const answer = await house.ask('GET', listing, { session: randomUUID(), ...proven(proof) });
    expect(answer.status).toBe(401);
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
    ['a URI of another site', { uri: 'https://evil.example.org' }, 'alice', 401],
    ['a URI without protection', { uri: `http://${DOMAIN}` }, 'alice', 401],
    ['a scheme without protection', { scheme: 'http' }, 'alice', 401],
    ['an expired message', { expirationTime: new Date(1_000) }, 'alice', 401],
    ['a message of tomorrow', { notBefore: new Date(Date.now() + 86_400_000) }, 'alice', 401],
    ['a message that claims to be from later', { issuedAt: new Date(Date.now() + 3_600_000) }, 'alice', 401],
    ['a nonce of its own', { nonce: 'abcdefgh12345678' }, 'alice', 401],
    ['the signature of another', {}, 'bob', 401],
  ])('refuses %s', async (_, fields, signer, status) => {
    const { answer } = await signIn(fields, signer === 'bob' ? bob : alice);
    expect(answer.status).toBe(status);
    expect(objectOf(answer.json).error).toContain('/api/wallet/nonce');
  });

  it('refuses what is no message', async () => {
    const { message: lowered, signature } = await signed();
    const unchecked = { message: lowered.replace(alice.address, wallet), signature };
    for (const body of [
      {},
      unchecked,
      { message: 'Hello', signature: '0x00' },
      { message: 5, signature: '0x00' },
    ]) {
      expect((await house.ask('POST', '/api/wallet/proof', { body })).status).toBe(400);
    }
  });

  it('logs neither proof nor signature', async () => {
    const { body, answer } = await signIn();
    expect(house.log()).not.toContain(body.signature);
    expect(house.log()).not.toContain(fieldOf(answer.json, 'proof'));
  });
});

describe('where contract wallets sign in on several chains', () => {
  const [HOME, OTHER] = [1, 10];
  const owner = `eip155:${String(OTHER)}:${wallet}`;

  beforeEach(async () => {
    // On each chain another contract has the address of the message, and takes every signature.
    const signatures: WalletSignatures = {
      read: (message) => walletSignatures([]).read(message),
      verify: (message, signature) => {
        const chainId = Number(/Chain ID: (\d+)/.exec(message)?.[1]);
        return Promise.resolve(signature === '0x01' ? { kind: 'contract', chainId } : { kind: 'key' });
      },
    };
    house = await openHouse({
      walletSignIn: { signatures, domains: [DOMAIN], homeChain: HOME },
      tools: [whose],
    });
  });
  afterEach(() => house.close());

  async function proofOn(chainId: number, by: 'contract' | 'key'): Promise<string> {
    const { message } = await signed({ chainId });
    const body = { message, signature: by === 'contract' ? '0x01' : '0x02' };
    const { status, json } = await house.ask('POST', '/api/wallet/proof', { body });
    expect(status).toBe(200);
    const isHome = by === 'key' || chainId === HOME;
    expect(objectOf(json).public_key).toBe(isHome ? wallet : owner);
    return fieldOf(json, 'proof');
  }

  async function bind(proof: string, publicKey = alice.address): Promise<string> {
    const session = randomUUID();
    const options = { session, body: { public_key: publicKey }, ...proven(proof) };
    expect((await house.ask('POST', '/api/sessions', options)).status).toBe(200);
    return session;
  }

  const idsFor = async (proof: string, path = listing): Promise<unknown> => {
    const { json } = await house.ask('GET', path, { session: randomUUID(), ...proven(proof) });
    return Array.isArray(json) && json.map((thread) => objectOf(thread).session_id);
  };

  it('shows a contract none of the threads of another one with the same address', async () => {
    const [home, other] = [await proofOn(HOME, 'contract'), await proofOn(OTHER, 'contract')];
    const theirs = await bind(home);
    const ours = await bind(other);
    expect(await idsFor(home)).toEqual([theirs]);
    expect(await idsFor(other)).toEqual([ours]);
    expect(await idsFor(other, `/api/sessions?public_key=${owner}`)).toEqual([ours]);
    const refused = await house.ask('GET', `/api/sessions?public_key=${owner}`, {
      session: randomUUID(),
      ...proven(home),
    });
    expect(refused.status).toBe(403);
    const legacy = await house.ask('GET', `/legacy/api/sessions/${theirs}`, proven(other));
    expect(objectOf(legacy.json).threads).toHaveLength(1);
  });

  it('binds a key, and a contract of the home chain, by the address alone', async () => {
    const [key, home] = [await proofOn(OTHER, 'key'), await proofOn(HOME, 'contract')];
    const session = await bind(key);
    expect([await idsFor(key), await idsFor(home)]).toEqual([[session], [session]]);
  });

  it('goes on without a proof by the address, and gives tools the address', async () => {
    const session = await bind(await proofOn(OTHER, 'contract'));
    const chat = `/api/chat?message=Hello&public_key=${alice.address}`;
    expect((await house.ask('POST', chat, { session })).status).toBe(200);
    const call = { session, body: { name: 'whose' } };
    expect((await house.ask('POST', '/api/tools', call)).json).toMatchObject({ result: { wallet } });
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
