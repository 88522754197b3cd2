import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { objectOf } from '../support/house.js';
import { openTestSqlite } from '../support/sqlite.js';
import { Place, UNREAD, type Running } from './running.js';

jest.setTimeout(60_000);

const [older, newer, other] = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'));
const under = (...keys: readonly (string | undefined)[]) => ({ SECRETS_KEY: keys.join(',') });
const clientOf = (n: number) => `client-number-${String(n).padStart(4, '0')}`;

/** Tells what it was lent, without saying it. */
const TOOL = `export const tool = {
  name: 'sum', description: 'Tells the digests of secrets.', sideEffects: 'none',
  parameters: { type: 'object', properties: { name: { type: 'string' } } },
  run: async ({ name }, { secrets }) => String(secrets.get(name)).length,
};`;

let place: Place;
beforeEach(() => {
  place = new Place();
  mkdirSync(join(place.directory, 'tools'));
  writeFileSync(join(place.directory, 'tools/sum.mjs'), TOOL);
  writeFileSync(join(place.directory, 'diptych.yaml'), 'tools: ./tools/*.mjs\n');
});
afterEach(() => place.clear());

async function post(url: string, path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'X-Session-Id': randomUUID() };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, ...objectOf(await response.json()) };
}

/** Stores `count` clients' secrets, each with a value of its own length. */
async function fill(url: string, from: number, count: number): Promise<void> {
  const stores = Array.from({ length: count }, (_, n) => {
    const secrets = { KEY: 'k'.repeat(from + n + 1), OTHER: 'o' };
    return post(url, '/api/secrets', { client_id: clientOf(from + n), secrets });
  });
  for (const { status } of await Promise.all(stores)) expect(status).toBe(200);
}

/** What the tool makes of a client's value: its length. */
async function lengthOf(url: string, n: number): Promise<unknown> {
  const asked = { name: 'sum', args: { name: 'KEY' }, client_id: clientOf(n) };
  const { result, error } = await post(url, '/api/tools', asked);
  return result ?? error;
}

async function rotate(env: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const { code, out, err } = await place.run(['secrets', 'rotate', ...flags], { env });
  // The output does not reveal whose secrets they are.
  for (let n = 0; n < 50; n++) {
    expect(out + err).not.toContain(clientOf(n));
    expect(out + err).not.toContain(createHash('sha256').update(clientOf(n)).digest('hex').slice(0, 12));
  }
  return { code, out, err };
}

async function end(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
}

describe('secrets list and secrets prune', () => {
  it('show how much is kept, never of whom, and remove what was idle', async () => {
    const { running, url } = await place.serve(under(older));
    await fill(url, 0, 2);
    expect(await lengthOf(url, 1)).toBe(2);
    const listed = await place.run(['secrets', 'list', '--json'], { env: under(older) });
    expect([listed.code, listed.err]).toEqual([0, '']);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    const client = expect.stringMatching(/^[0-9a-f]{8}$/);
    expect(JSON.parse(listed.out)).toEqual({
      apps: [{ app: 'default', secrets: 4, bytes: expect.any(Number) }],
      clients: [
        { client, secrets: 2, bytes: expect.any(Number), stored_at: time, used_at: null },
        { client, secrets: 2, bytes: expect.any(Number), stored_at: time, used_at: time },
      ],
    });
    expect(listed.out).not.toMatch(/client-number|KEY|[0-9a-f]{9}/);
    const words = await place.run(['secrets', 'list'], { env: under(older) });
    expect(words.out).toMatch(
      /^APP +SECRETS +BYTES\ndefault +4 +\d+\n\nCLIENT +SECRETS +BYTES +STORED +USED\n/,
    );

    const prune = async (days: string) =>
      (await place.run(['secrets', 'prune', '--idle', days], { env: under(older) })).out;
    expect(await prune('1')).toBe('Removed 0 secrets.\n');
    expect(await prune('0')).toBe('Removed 4 secrets.\n');
    expect(await lengthOf(url, 1)).not.toBe(2);
    await end(running);
  });

  it('refuse an age that is none', async () => {
    const { code, err } = await place.run(['secrets', 'prune', '--idle', 'soon']);
    expect([code, err]).toEqual([2, expect.stringContaining('--idle takes a whole number')]);
  });
});

describe('secrets rotate', () => {
  it('reseals all secrets beside a running service that reads and writes them', async () => {
    const before = await place.serve(under(older));
    await fill(before.url, 0, 120);
    await end(before.running);

    const { running, url } = await place.serve(under(newer, older));
    let isOver = false;
    const use = async (): Promise<void> => {
      for (let n = 0; !isOver; n = (n + 7) % 120) {
        expect(await lengthOf(url, n)).toBe(n + 1);
        await fill(url, n, 1);
      }
    };
    const used = use();
    const done = await rotate(under(newer, older), '--json');
    isOver = true;
    await used;
    expect([done.code, done.err]).toEqual([0, '']);
    const { key_id: keyId, rotated, ...rest } = objectOf(JSON.parse(done.out));
    expect(rest).toEqual({ complete: true, unopened: [] });
    expect(keyId).toMatch(/^[0-9a-f]{16}$/);
    // The service has stored some of them under the newest key by itself.
    expect(rotated).toBeGreaterThan(100);
    expect(rotated).toBeLessThanOrEqual(240);
    expect(JSON.parse((await rotate(under(newer, older), '--json')).out)).toEqual({
      ...{ key_id: keyId, rotated: 0 },
      ...{ complete: true, unopened: [] },
    });
    await end(running);

    // The old key may go.
    const after = await place.serve(under(newer));
    for (const n of [0, 1, 50, 119]) expect(await lengthOf(after.url, n)).toBe(n + 1);
    const log = running.out() + after.running.out() + before.running.out();
    expect(log).toContain('"route":"/api/secrets"');
    expect(log).not.toMatch(/client-number|kkkkk/);
  });

  it('leaves what no key opens, says how many and which, and fails; with the key it goes on', async () => {
    const { running, url } = await place.serve(under(older));
    await fill(url, 0, 5);
    await end(running);
    const json = await rotate(under(newer), '--json');
    expect(json).toMatchObject({ code: 1, err: '' });
    const keyId = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(JSON.parse(json.out)).toEqual({
      ...{ key_id: keyId, rotated: 0, complete: false },
      unopened: [
        { app: 'default', name: 'KEY', key_id: keyId, count: 5 },
        { app: 'default', name: 'OTHER', key_id: keyId, count: 5 },
      ],
    });
    const unread = await place.runAfter(UNREAD, ['secrets', 'rotate'], { env: under(newer) });
    expect(unread.code).toBe(1);
    const words = await rotate(under(newer));
    expect(words.code).toBe(1);
    expect(words.out).toMatch(
      /^0 values were encrypted.*\n10 values are encrypted with keys that are not configured/,
    );
    expect(words.out).toMatch(/^default +KEY +[0-9a-f]{16} +5$/m);

    // A service without the key runs, and reports this to its callers.
    const without = await place.serve(under(newer));
    const warning = 'stored secrets need keys that are not configured';
    await without.running.says(warning);
    const checked = await place.run(['check'], { env: under(newer) });
    expect(checked).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^FAIL {2}secrets: some stored values need the key [0-9a-f]{16}: /m),
    });
    expect(await lengthOf(without.url, 0)).toMatch(/The secret KEY can no longer be opened.*Store it again/);
    await fill(without.url, 0, 1);
    expect(await lengthOf(without.url, 0)).toBe(1);
    await end(without.running);

    expect(await rotate(under(other, newer, older))).toMatchObject({ code: 0, err: '' });
    const healed = await place.serve(under(other));
    expect((await place.run(['check'], { env: under(other) })).code).toBe(0);
    expect(await Promise.all([0, 1, 2, 3, 4].map((n) => lengthOf(healed.url, n)))).toEqual([1, 2, 3, 4, 5]);
    expect(healed.running.out()).not.toContain(warning);
  });

  it('takes over from the key that was made beside the database', async () => {
    const { running, url } = await place.serve();
    await fill(url, 0, 3);
    await end(running);
    const file = join(place.directory, 'data/secrets.key');
    const made = readFileSync(file, 'utf8').trim();
    // Without SECRETS_KEY it is the newest, and all is done.
    expect(await rotate({})).toMatchObject({ code: 0, out: expect.stringMatching(/^0 values/) });
    expect(await rotate(under(newer, made))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^6 values/),
    });
    const after = await place.serve(under(newer));
    expect(await lengthOf(after.url, 2)).toBe(3);
  });

  it('creates no key where there is none', async () => {
    await (await openTestSqlite({ path: place.database })).close();
    const { code, out, err } = await place.run(['secrets', 'rotate']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^diptych: There is no key: SECRETS_KEY is not set, and there is no file .*secrets\.key\n$/,
    );
    expect(existsSync(join(place.directory, 'data/secrets.key'))).toBe(false);
  });

  it('refuses a key that is none, and says so without it', async () => {
    const { code, err } = await rotate({ SECRETS_KEY: 'not-a-key-canary' });
    expect(code).toBe(2);
    expect(err).toContain('SECRETS_KEY: must be 32 bytes in base64');
    expect(err).not.toContain('canary');
  });

  it('has help', async () => {
    const { code, out } = await place.run(['secrets', 'rotate', '--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('diptych secrets rotate')]);
  });
});
