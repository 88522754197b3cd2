import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMemoryStore } from '../../support/memory-store/store.js';
import { nodeDigests } from '../../../src/adapters/platform/node/digests.js';
import { createSealer } from '../../../src/adapters/platform/node/sealer.js';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { createAccess } from '../../../src/core/access/app-access.js';
import type { App } from '../../../src/core/model/app.js';
import { rotateSecrets } from '../../../src/core/access/secret-rotation.js';
import type { SealedSecret, Sealer } from '../../../src/core/ports/secret-store.js';
import { Secrets } from '../../../src/core/access/secrets.js';
import type { Store } from '../../../src/core/ports/store.js';
import { WIDE } from '../../contracts/store-fixtures.js';
import { keptLog, testApp } from '../../support/core.js';
import { objectOf } from '../../support/house.js';
import { grantKey } from '../../support/keys.js';

const CLIENT = 'client-of-16-char';
const [older, newer] = [randomBytes(32), randomBytes(32)];
const slot = { name: 'API_KEY', description: 'Vendor key', required: true };
const paid = testApp({
  name: 'paid',
  secrets: [slot, { name: 'OPTIONAL', description: '', required: false }],
});
/** An App without slots, `default`. */
const plain = testApp();
const never = new AbortController().signal;

let store: Store;
let key: string;
beforeEach(async () => {
  store = createMemoryStore();
  key = await grantKey(store, ['paid']);
});
afterEach(() => store.close());

/** How much an App may keep. */
const maxAppBytes = 2_000_000;

function secretsUnder(...keys: readonly Buffer[]): Secrets {
  const access = createAccess({
    apps: [testApp(), paid],
    findKey: (digest) => store.findKey(digest),
    digests: nodeDigests,
    clock: systemClock,
  });
  const parts = { secretStore: store, digests: nodeDigests, access, clock: systemClock };
  return new Secrets({ ...parts, log: keptLog(), maxAppBytes, sealer: createSealer(keys) });
}

function keep(
  secrets: Secrets,
  values: Record<string, unknown>,
  fields: { clientId?: string; app?: string } = {},
) {
  return secrets.store({ clientId: CLIENT, app: undefined, key, values, ...fields });
}

describe('what is stored', () => {
  it('is opened for its own App and client alone, and shows itself nowhere', async () => {
    const secrets = secretsUnder(older);
    expect(await keep(secrets, { A: 'value-a', B: 'value-b' })).toEqual({ A: '$SECRET:A', B: '$SECRET:B' });
    await keep(secrets, { A: 'another' }, { app: 'paid' });
    const client = secrets.clientOf(CLIENT);
    expect([...(await secrets.open(client, plain))]).toEqual([
      ['A', 'value-a'],
      ['B', 'value-b'],
    ]);
    expect([...(await secrets.open(client, paid))]).toEqual([['A', 'another']]);
    expect((await secrets.open(secrets.clientOf(`${CLIENT}x`), plain)).size).toBe(0);
    expect((await secrets.open(null, plain)).size).toBe(0);
    const rows = JSON.stringify(await store.readSecrets(client, null));
    for (const hidden of [CLIENT, 'value-a', 'another']) expect(rows).not.toContain(hidden);
  });

  it('does not open when it is moved to another client, App or name', async () => {
    const secrets = secretsUnder(older);
    await keep(secrets, { A: 'value-a' });
    const [row] = await store.readSecrets(secrets.clientOf(CLIENT), 'default');
    if (row === undefined) throw new Error('nothing was stored');
    const moved: readonly (readonly [string, SealedSecret])[] = [
      ['thief', row],
      [secrets.clientOf(CLIENT), { ...row, app: 'paid' }],
      [secrets.clientOf(CLIENT), { ...row, name: 'B' }],
    ];
    for (const [client, taken] of moved) {
      await store.putSecrets(client, [taken], WIDE, 0);
      const lent = await secrets.open(client, testApp({ name: taken.app }));
      expect(() => lent.get(taken.name)).toThrow('can no longer be opened');
    }
  });

  it('is replaced by a later value, listed by App, and removed by App, by name, or as a whole', async () => {
    const secrets = secretsUnder(older);
    await keep(secrets, { B: '1', A: '2' });
    await keep(secrets, { A: '3' });
    await keep(secrets, { A: '4', __proto__x: '5' }, { app: 'paid' });
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({
      default: ['A', 'B'],
      paid: ['A', '__proto__x'],
    });
    const client = secrets.clientOf(CLIENT);
    expect((await secrets.open(client, plain)).get('A')).toBe('3');
    expect(await secrets.delete(secrets.clientOf(CLIENT), { app: 'default', name: 'A' })).toBe(1);
    expect(await secrets.delete(secrets.clientOf(CLIENT), { app: 'none', name: null })).toBe(0);
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({
      default: ['B'],
      paid: ['A', '__proto__x'],
    });
    expect(await secrets.delete(secrets.clientOf(CLIENT), { app: null, name: 'A' })).toBe(1);
    expect(await secrets.delete(secrets.clientOf(`${CLIENT}x`), { app: null, name: null })).toBe(0);
    expect(await secrets.delete(secrets.clientOf(CLIENT), { app: null, name: null })).toBe(2);
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({});
  });

  it.each<readonly [string, Record<string, unknown>, string]>([
    ['no value', {}, 'secrets'],
    ['too many', Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`N${String(n)}`, 'v'])), 'secrets'],
    ['a name with a blank', { 'A B': 'v' }, 'secrets'],
    ['a name of other letters', { ключ: 'v' }, 'secrets'],
    ['an empty name', { '': 'v' }, 'secrets'],
    ['a long name', { ['A'.repeat(129)]: 'v' }, 'secrets'],
    ['an empty value', { A: '' }, 'secrets.A'],
    ['a number', { A: 5 }, 'secrets.A'],
    ['null', { A: null }, 'secrets.A'],
    ['a long value', { A: 'é'.repeat(4097) }, 'secrets.A'],
    ['half a character', { A: 'x\ud800' }, 'secrets.A'],
  ])('cannot be %s, and nothing of it is kept', async (_name, values, path) => {
    const secrets = secretsUnder(older);
    const refused = keep(secrets, { ...values });
    await expect(refused).rejects.toMatchObject({ reason: 'invalid', details: [{ path }] });
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({});
  });

  it('may have names that objects have', async () => {
    const secrets = secretsUnder(older);
    const values = objectOf(JSON.parse('{"__proto__": "p", "constructor": "c"}'));
    const handles = await keep(secrets, values);
    expect(JSON.stringify(handles)).toBe(
      '{"__proto__":"$SECRET:__proto__","constructor":"$SECRET:constructor"}',
    );
    expect((await secrets.open(secrets.clientOf(CLIENT), plain)).get('__proto__')).toBe('p');
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({ default: ['__proto__', 'constructor'] });
  });

  it.each(['', 'x'.repeat(15), 'x'.repeat(257), `${'x'.repeat(16)}\ud800`])(
    'needs a client id that is hard to guess (%j)',
    async (clientId) => {
      const refused = keep(secretsUnder(older), { A: 'v' }, { clientId });
      await expect(refused).rejects.toMatchObject({ reason: 'invalid', details: [{ path: 'client_id' }] });
    },
  );

  it('needs the key of its App', async () => {
    const secrets = secretsUnder(older);
    const asked = { clientId: CLIENT, values: { A: 'v' }, app: 'paid' };
    await expect(secrets.store({ ...asked, key: undefined })).rejects.toMatchObject({
      reason: 'unauthenticated',
    });
    await expect(secrets.store({ ...asked, app: 'other', key })).rejects.toMatchObject({
      reason: 'forbidden',
    });
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({});
  });

  it('is bounded for each client and App, also in a burst', async () => {
    const secrets = secretsUnder(older);
    const some = (n: number) =>
      Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`N${String(n)}_${String(at)}`, 'v']));
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => keep(secrets, some(n))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect((await secrets.names(secrets.clientOf(CLIENT))).default).toHaveLength(256);
    // Replacing is no more; another App or client has its own.
    await keep(secrets, some(0));
    await keep(secrets, some(9), { app: 'paid' });
    await keep(secrets, some(9), { clientId: `${CLIENT}x` });
  });

  it('is bounded in bytes for a client, and for all clients of an App, with words on what makes room', async () => {
    const secrets = secretsUnder(older);
    const large = (from: number) =>
      Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`N${String(from + n)}`, 'v'.repeat(8_000)]));
    await keep(secrets, large(0));
    await expect(keep(secrets, large(64))).rejects.toMatchObject({
      reason: 'full',
      message: expect.stringContaining('delete some first'),
    });
    await keep(secrets, large(0), { clientId: `${CLIENT}2` });
    const third = { clientId: `${CLIENT}3` };
    await expect(keep(secrets, large(0), third)).rejects.toMatchObject({
      reason: 'too_many',
      retryAfter: 3600,
    });
    expect(await secrets.names(secrets.clientOf(third.clientId))).toEqual({});
    await secrets.delete(secrets.clientOf(CLIENT), { app: null, name: null });
    await keep(secrets, large(0), third);
  });
});

describe('a value for any App', () => {
  const asked = { forAnyApp: true, app: undefined, key: undefined, clientId: CLIENT };
  let secrets: Secrets;
  let client: string;
  const lentTo = async (app: App) => Object.fromEntries(await secrets.open(client, app));
  beforeEach(() => {
    secrets = secretsUnder(older);
    client = secrets.clientOf(CLIENT);
  });

  it('serves the slot of its name of any App, after the value of the App, and needs no key', async () => {
    const handles = await secrets.store({ ...asked, values: { API_KEY: 'any', OTHER: 'any' } });
    expect(handles).toEqual({ API_KEY: '$SECRET:API_KEY', OTHER: '$SECRET:OTHER' });
    expect(await lentTo(paid)).toEqual({ API_KEY: 'any' });
    expect(await lentTo(testApp({ name: 'other' }))).toEqual({});
    expect(await lentTo(plain)).toEqual({ API_KEY: 'any', OTHER: 'any' });
    await secrets.requireSlots(paid, client);
    await keep(secrets, { API_KEY: 'own' }, { app: 'paid' });
    expect(await lentTo(paid)).toEqual({ API_KEY: 'own' });
    expect(await lentTo(plain)).toEqual({ API_KEY: 'any', OTHER: 'any' });
  });

  it('does not take the place of the value of an App that can no longer be decrypted', async () => {
    await keep(secretsUnder(newer), { API_KEY: 'own' }, { app: 'paid' });
    await secrets.store({ ...asked, values: { API_KEY: 'any' } });
    expect((await secrets.open(client, paid)).isClosed('API_KEY')).toBe(true);
  });

  it('is stored for an App that is named, with its key', async () => {
    await secrets.store({ ...asked, app: 'default', values: { API_KEY: 'v' } });
    expect(await lentTo(paid)).toEqual({});
    const named = secrets.store({ ...asked, app: 'paid', values: { API_KEY: 'v' } });
    await expect(named).rejects.toMatchObject({ reason: 'unauthenticated' });
  });

  it('is listed and deleted as one of default', async () => {
    await keep(secrets, { A: 'own', B: 'own' });
    await secrets.store({ ...asked, values: { A: 'any', Z: 'any' } });
    await keep(secrets, { A: 'paid' }, { app: 'paid' });
    expect(await secrets.names(client)).toEqual({ default: ['A', 'B', 'Z'], paid: ['A'] });
    expect(await secrets.delete(client, { app: 'paid', name: 'Z' })).toBe(0);
    expect(await secrets.delete(client, { app: 'default', name: 'A' })).toBe(2);
    expect(await secrets.names(client)).toEqual({ default: ['B', 'Z'], paid: ['A'] });
    expect(await secrets.delete(client, { app: null, name: null })).toBe(3);
    expect(await secrets.names(client)).toEqual({});
  });
});

describe('names with a colon', () => {
  it('are accepted where the caller allows them', async () => {
    const secrets = secretsUnder(older);
    const asked = { clientId: CLIENT, values: { 'vendor:key': 'v' }, app: undefined, key: undefined };
    await expect(secrets.store(asked)).rejects.toThrow(
      'secrets must have names of 1 to 128 letters, digits, _, . and - that begin with a letter or _',
    );
    expect(await secrets.store({ ...asked, allowsColons: true })).toEqual({
      'vendor:key': '$SECRET:vendor:key',
    });
    for (const name of [':key', 'a b', 'a/b']) {
      const bad = secrets.store({ ...asked, values: { [name]: 'v' }, allowsColons: true });
      await expect(bad).rejects.toMatchObject({ reason: 'invalid', details: [{ path: 'secrets' }] });
    }
  });
});

describe('the use of secrets', () => {
  it('is noted when a session is lent them, once a day, and not when they are listed', async () => {
    const secrets = secretsUnder(older);
    const client = secrets.clientOf(CLIENT);
    const usedAt = async () => (await store.listSecretClients(1))[0]?.usedAt;
    await keep(secrets, { A: 'v' });
    await secrets.names(secrets.clientOf(CLIENT));
    expect(await usedAt()).toBeNull();
    await secrets.open(client, paid);
    expect(await usedAt()).toBeNull();
    await secrets.open(client, plain);
    expect(await usedAt()).toBeGreaterThan(0);
    const noted: number[] = [];
    const spied = {
      ...store,
      noteSecretUse: (_: string, at: number) => Promise.resolve(void noted.push(at)),
    };
    store = spied;
    const others = secretsUnder(older);
    for (let n = 0; n < 3; n++) await others.open(client, plain);
    expect(noted).toHaveLength(1);
  });
});

describe('required slots', () => {
  it('are named when they are empty, and only then', async () => {
    const secrets = secretsUnder(older);
    const client = secrets.clientOf(CLIENT);
    for (const who of [client, null]) {
      await expect(secrets.requireSlots(paid, who)).rejects.toMatchObject({
        reason: 'invalid',
        message: expect.stringContaining('API_KEY'),
        details: [{ path: 'secrets.API_KEY', message: 'Vendor key' }],
      });
    }
    await keep(secrets, { API_KEY: 'v' });
    await expect(secrets.requireSlots(paid, client)).rejects.toMatchObject({ reason: 'invalid' });
    await keep(secrets, { API_KEY: 'v' }, { app: 'paid' });
    await secrets.requireSlots(paid, client);
    await secrets.requireSlots(testApp(), null);
  });
});

describe('a value whose key is gone', () => {
  it('fails the request that asks for it, in words, and no other', async () => {
    await keep(secretsUnder(older), { OLD: 'old-value' });
    const secrets = secretsUnder(newer);
    await keep(secrets, { NEW: 'new-value' });
    const lent = await secrets.open(secrets.clientOf(CLIENT), plain);
    expect([...lent]).toEqual([['NEW', 'new-value']]);
    expect([lent.get('NEW'), lent.get('NONE'), lent.has('OLD'), lent.has('NONE')]).toEqual([
      'new-value',
      undefined,
      true,
      false,
    ]);
    expect(() => lent.get('OLD')).toThrow(/^The secret OLD can no longer be opened.*Store it again/);
    // It can be listed, replaced and removed.
    expect(await secrets.names(secrets.clientOf(CLIENT))).toEqual({ default: ['NEW', 'OLD'] });
    await keep(secrets, { OLD: 'again' });
    expect((await secrets.open(secrets.clientOf(CLIENT), plain)).get('OLD')).toBe('again');
  });

  it('leaves a required slot as good as empty', async () => {
    await keep(secretsUnder(older), { API_KEY: 'v' }, { app: 'paid' });
    const secrets = secretsUnder(newer);
    await expect(secrets.requireSlots(paid, secrets.clientOf(CLIENT))).rejects.toMatchObject({
      reason: 'invalid',
      message: expect.stringMatching(/API_KEY of the App paid can no longer be opened.*Store it again/),
    });
  });
});

describe('rotation', () => {
  async function fill(count: number, sealer: Secrets): Promise<void> {
    for (let n = 0; n < count; n++) {
      await keep(sealer, { A: `a${String(n)}`, B: 'b' }, { clientId: `${CLIENT}${String(n)}` });
    }
  }

  it('reseals all, in batches, and leaves nothing to do', async () => {
    await fill(150, secretsUnder(older));
    const sealer = createSealer([newer, older]);
    const progress: number[] = [];
    expect(await rotateSecrets({ store, sealer }, never, (done) => progress.push(done))).toEqual({
      rotated: 300,
      unopened: [],
    });
    expect(progress).toEqual([200, 300]);
    const secrets = secretsUnder(newer);
    expect((await secrets.open(secrets.clientOf(`${CLIENT}149`), plain)).get('A')).toBe('a149');
    expect(await rotateSecrets({ store, sealer }, never)).toEqual({ rotated: 0, unopened: [] });
  });

  it('passes over what no key opens, however much of it comes first', async () => {
    await fill(150, secretsUnder(randomBytes(32)));
    await fill(120, secretsUnder(older));
    const lost = secretsUnder(randomBytes(32));
    await keep(lost, { Z: 'z' }, { app: 'paid' });
    const sealer = createSealer([newer, older]);
    const { rotated, unopened } = await rotateSecrets({ store, sealer }, never);
    expect([rotated, unopened.length]).toEqual([240, 61]);
    expect(unopened).toContainEqual({ app: 'paid', name: 'Z', keyId: expect.any(String) });
    expect(JSON.stringify(unopened)).not.toContain(lost.clientOf(CLIENT));
  });

  it('loses nothing that is stored or removed while it reseals', async () => {
    const before = secretsUnder(older);
    await keep(before, { A: 'old', B: 'old', C: 'old' });
    const sealer = createSealer([newer, older]);
    let reads = 0;
    // Between the read and the replacement: A is stored again by a service with the newest key, B by one with the old, C
    // is removed.
    const meddled = {
      resealSecret: store.resealSecret.bind(store),
      async readSecretsNotUnder(keyId: string, limit: number) {
        const page = await store.readSecretsNotUnder(keyId, limit);
        if (++reads === 1) {
          await keep(secretsUnder(newer), { A: 'new' });
          await keep(before, { B: 'new' });
          await before.delete(before.clientOf(CLIENT), { app: null, name: 'C' });
        }
        return page;
      },
    };
    expect(await rotateSecrets({ store: meddled, sealer }, never)).toEqual({ rotated: 1, unopened: [] });
    const lent = await secretsUnder(newer).open(before.clientOf(CLIENT), plain);
    expect([...lent]).toEqual([
      ['A', 'new'],
      ['B', 'new'],
    ]);
  });

  it('stops after the batch in hand, and goes on from there', async () => {
    await fill(300, secretsUnder(older));
    const sealer: Sealer = createSealer([newer, older]);
    const stop = new AbortController();
    const first = await rotateSecrets({ store, sealer }, stop.signal, () => {
      stop.abort();
    });
    expect(first.rotated).toBe(200);
    const second = await rotateSecrets({ store, sealer }, never);
    expect(second.rotated).toBe(400);
  });
});
