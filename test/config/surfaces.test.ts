import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/mistakes.js';
import { readConfig, type Config } from '../../src/config.js';

function read(env: Readonly<Record<string, string>>): Promise<Config> {
  const readFile = (): never => {
    throw Object.assign(new Error('none'), { code: 'ENOENT' });
  };
  return readConfig({ env, cwd: '/srv', readFile });
}

async function mistakesOf(env: Readonly<Record<string, string>>): Promise<unknown> {
  try {
    await read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('the settings of surfaces', () => {
  it('expose the field surface, at the root as well', async () => {
    expect(await read({ SURFACES: 'field' })).toMatchObject({ surfaces: ['field'], rootSurface: 'merged' });
    const all = { SURFACES: 'field, legacy,current', ROOT_SURFACE: 'field' };
    expect(await read(all)).toMatchObject({ surfaces: ['current', 'legacy', 'field'], rootSurface: 'field' });
  });

  it('refuse a root that is not exposed', async () => {
    expect(await mistakesOf({ ROOT_SURFACE: 'field' })).toEqual([
      { where: 'ROOT_SURFACE', what: expect.stringContaining('current,legacy,field') },
    ]);
    expect(await mistakesOf({ ROOT_SURFACE: 'current' })).toEqual([
      { where: 'ROOT_SURFACE', what: 'must be one of merged, field, not "current"' },
    ]);
  });

  it('refuse proofs of wallets together with the field surface, whose clients cannot prove', async () => {
    const proof = { WALLET_PROOF: 'required', WALLET_PROOF_DOMAINS: 'a.example' };
    expect(await mistakesOf({ ...proof, SURFACES: 'current,field' })).toEqual([
      { where: 'WALLET_PROOF', what: expect.stringContaining('cannot prove') },
    ]);
    expect((await read({ ...proof, SURFACES: 'current,legacy' })).walletProof).toBe('required');
  });

  it('name headers of the App key', async () => {
    const { appKeyHeaders } = await read({ APP_KEY_HEADERS: ' X-Acme-Key, Authorization ' });
    expect(appKeyHeaders).toEqual(['X-Acme-Key', 'Authorization']);
  });

  it.each([
    ['a blank in a name', 'X Key'],
    ['a colon', 'X-Key: a'],
    ['a line break', 'X-Key\r\nX-Other'],
    ['the same name twice', 'X-Key,x-key'],
    ['a header that means something else', 'X-Session-Id'],
    ['a header of HTTP', 'X-Key,Content-Type'],
    ['a long name', 'x'.repeat(65)],
    ['too many names', Array.from({ length: 17 }, (_, n) => `X-${String(n)}`).join()],
    ['no name', ','],
  ])('refuse %s among the headers', async (_, value) => {
    expect(await mistakesOf({ APP_KEY_HEADERS: value })).toEqual([
      { where: 'APP_KEY_HEADERS', what: expect.stringContaining('names of headers such as X-App-Key') },
    ]);
  });
});
