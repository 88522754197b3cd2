import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { encodeAbiParameters, type Address } from 'viem';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { plainDecimal } from '../../src/adapters/tools/prices/quotes.js';
import type { PriceSettings } from '../../src/adapters/tools/prices/settings.js';
import { priceTools } from '../../src/adapters/tools/prices/tools.js';
import type { JsonObject, JsonValue } from '../../src/core/model/json.js';
import type { Tool, ToolContext } from '../../src/core/ports/tool.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { compileContracts, type Artefact } from '../support/contracts.js';
import { startPriceSource, type PriceSource } from '../support/price-source.js';

jest.setTimeout(20_000);

const NOW = 1_800_000_000;
const KEY = 'CG-secret-key';
const context: ToolContext = {
  sessionId: '00000000-0000-4000-8000-000000000000',
  callId: 'call',
  turn: null,
  app: 'default',
  wallet: null,
  userState: null,
  secrets: new Map(),
  signal: new AbortController().signal,
  progress: () => undefined,
};

let anvil: Anvil;
let feedContract: Artefact;
let feed: Address;
let source: PriceSource;
let now = NOW;
/** By how many seconds the wall clock was set. */
let clockStep = 0;

beforeAll(async () => {
  const [node, contracts] = await Promise.all([startAnvil(31_337), compileContracts('Feed.sol')]);
  const compiled = contracts.get('Feed');
  if (compiled === undefined) throw new Error('no contract');
  [anvil, feedContract] = [node, compiled];
  feed = await anvil.deploy(feedContract, [8, 315_012_000_000n, BigInt(NOW - 35)]);
}, 30_000);
afterAll(() => anvil.close());
beforeEach(async () => {
  now = NOW;
  clockStep = 0;
  source = await startPriceSource(NOW - 60);
  source.prices.set('ethereum', 3000.5).set('bitcoin', 100_000).set('shiba', 1.2e-7);
});
afterEach(() => source.close());

/** A tool with one feed, of ETH, and the HTTP source for ETH, BTC, SHIB and a coin that it does not know. */
function open(changes: Partial<PriceSettings> = {}): Tool {
  const ids = { ETH: 'ethereum', btc: 'bitcoin', SHIB: 'shiba', GONE: 'gone' };
  const settings: PriceSettings = {
    chains: [{ id: 31_337, name: 'Local', rpcUrls: [anvil.url] }],
    feeds: [{ symbol: 'ETH', chainId: 31_337, address: feed, heartbeatSeconds: 60 }],
    http: { baseUrl: source.baseUrl, apiKey: KEY, ids },
    cacheSeconds: 15,
    ...changes,
  };
  const [tool] = priceTools(settings, { now: () => (now + clockStep) * 1000, monotonic: () => now * 1000 });
  if (tool === undefined) throw new Error('no tool');
  return tool;
}

function ask(tool: Tool, args: JsonObject, signal = context.signal): Promise<JsonValue> {
  expect(createSchemas().compile(tool.parameters)(args)).toEqual([]);
  return tool.run(args, { ...context, signal });
}

/** Writes a body without end, as fast as the client reads it. */
function endlessly(res: ServerResponse): void {
  const filler = Buffer.alloc(65_536, 'x');
  const fill = (): void => {
    while (!res.destroyed && res.write(filler));
  };
  res.on('drain', fill);
  fill();
}

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error('it did not fail');
}

const NO_TIME = { now: () => 0, monotonic: () => 0 };

describe('get_token_price', () => {
  it('has no side effects, a schema that compiles, and is not there without sources', () => {
    const tool = open();
    expect(tool.sideEffects).toBe('none');
    expect(createSchemas().compile(tool.parameters)({ symbols: [] })).not.toEqual([]);
    expect(tool.description).toContain('ETH, BTC, SHIB, GONE');
    expect(priceTools({ chains: [], feeds: [], http: null, cacheSeconds: 1 }, NO_TIME)).toEqual([]);
    expect(() => open({ chains: [] })).toThrow('on chain 31337, which is not configured');
  });

  it('takes feeds first, the HTTP source for the rest in one request, and says of each where it is from', async () => {
    const result = await ask(open(), { symbols: ['eth', '$BTC', 'SHIB', 'DOGE', 'ETH'] });
    expect(result).toEqual({
      text: 'ETH is 3150.12 USD. BTC is 100000 USD. SHIB is 0.00000012 USD. No price source is configured for DOGE.',
      currency: 'usd',
      prices: [
        {
          symbol: 'ETH',
          price: '3150.12',
          source: 'chainlink',
          updated_at: new Date((NOW - 35) * 1000).toISOString(),
          age_seconds: 35,
          stale: false,
        },
        expect.objectContaining({ symbol: 'BTC', price: '100000', source: 'http', age_seconds: 60 }),
        expect.objectContaining({ symbol: 'SHIB', price: '0.00000012' }),
        { symbol: 'DOGE', error: expect.stringContaining('Known symbols: ETH, BTC, SHIB, GONE.') },
      ],
    });
    expect(source.requests).toHaveLength(1);
    const [request] = source.requests;
    expect(request?.url.pathname).toBe('/api/v3/simple/price');
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toEqual({
      ids: 'bitcoin,shiba',
      vs_currencies: 'usd',
      include_last_updated_at: 'true',
    });
    expect(request?.key).toBe(KEY);
  });

  it('asks a source with the user name and password of its URL', async () => {
    const baseUrl = source.baseUrl.replace('//', '//user:pass@');
    const result = await ask(open({ http: { baseUrl, ids: { BTC: 'bitcoin' } } }), { symbols: ['BTC'] });
    expect(result).toMatchObject({ text: 'BTC is 100000 USD.' });
    expect(source.requests[0]?.authorization).toBe(`Basic ${btoa('user:pass')}`);
  });

  it('says when a feed is older than it promises to be', async () => {
    now = NOW + 25;
    await expect(ask(open(), { symbols: ['ETH'] })).resolves.toMatchObject({
      prices: [{ age_seconds: 60, stale: false }],
    });
    now = NOW + 26;
    await expect(ask(open(), { symbols: ['ETH'] })).resolves.toMatchObject({
      text: 'ETH is 3150.12 USD (an old price).',
      prices: [{ age_seconds: 61, stale: true }],
    });
  });

  it('asks the HTTP source for other currencies, and where a feed fails or has no price', async () => {
    await expect(ask(open(), { symbols: ['ETH'], currency: 'EUR' })).resolves.toMatchObject({
      currency: 'eur',
      prices: [{ symbol: 'ETH', price: '3000.5', source: 'http' }],
    });
    const empty = await anvil.deploy(feedContract, [8, 0n, BigInt(NOW)]);
    for (const address of [empty, '0x000000000000000000000000000000000000dEaD']) {
      const feeds = [{ symbol: 'ETH', chainId: 31_337, address }];
      await expect(ask(open({ feeds }), { symbols: ['ETH'] })).resolves.toMatchObject({
        prices: [{ price: '3000.5', source: 'http' }],
      });
      await expect(ask(open({ feeds, http: null }), { symbols: ['ETH'] })).rejects.toThrow(
        'No price source answered.',
      );
    }
  });

  it('has an entry for what the source does not know, and fails only when nothing has a price', async () => {
    await expect(ask(open(), { symbols: ['ETH', 'GONE'] })).resolves.toMatchObject({
      prices: [
        { price: '3150.12' },
        { symbol: 'GONE', error: 'The price source has no price of GONE in USD.' },
      ],
    });
    await expect(ask(open(), { symbols: ['GONE', 'DOGE'] })).rejects.toThrow('No price source answered.');
    await expect(ask(open(), { symbols: ['DOGE'] })).resolves.toMatchObject({ prices: [{ symbol: 'DOGE' }] });
    await expect(ask(open(), { symbols: ['constructor', '__proto__'] })).resolves.toMatchObject({
      prices: [{ error: expect.any(String) }, { error: expect.any(String) }],
    });
  });

  it('refuses what is no symbol or currency', async () => {
    await expect(ask(open(), { symbols: [' '] })).rejects.toThrow('symbols: must be');
    await expect(ask(open(), { symbols: ['ETH'], currency: 'usd&x=1' })).rejects.toThrow('currency: must be');
  });
});

describe('the cache', () => {
  it('keeps prices for its seconds, and asks for the others only', async () => {
    const tool = open();
    await ask(tool, { symbols: ['BTC'] });
    now += 14;
    clockStep = -3_600;
    await ask(tool, { symbols: ['BTC'] });
    clockStep = 0;
    await expect(ask(tool, { symbols: ['BTC', 'SHIB'] })).resolves.toMatchObject({
      prices: [{ age_seconds: 74 }, {}],
    });
    expect(source.requests.map(({ url }) => url.searchParams.get('ids'))).toEqual(['bitcoin', 'shiba']);
    now += 1;
    // Its 15 seconds are over, whatever the wall clock says.
    clockStep = -3_600;
    await ask(tool, { symbols: ['BTC', 'SHIB'] });
    expect(source.requests.map(({ url }) => url.searchParams.get('ids'))).toEqual([
      'bitcoin',
      'shiba',
      'bitcoin',
    ]);
    await ask(tool, { symbols: ['BTC'], currency: 'eur' });
    expect(source.requests).toHaveLength(4);
  });

  it('asks once for what is asked for at the same time, and goes on when one of the callers leaves', async () => {
    const tool = open();
    const arrived = source.nextRequest();
    source.instead = () => undefined;
    const controller = new AbortController();
    const first = failureOf(ask(tool, { symbols: ['BTC'] }, controller.signal));
    const response = await arrived;
    const second = ask(tool, { symbols: ['BTC'] });
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await first).toBe(reason);
    response.end(JSON.stringify({ bitcoin: { usd: 7 } }));
    await expect(second).resolves.toMatchObject({
      prices: [{ price: '7', updated_at: null, age_seconds: null }],
    });
    expect(source.requests).toHaveLength(1);
  });

  it('does not keep failures', async () => {
    const tool = open();
    source.instead = (_req, res) => res.writeHead(500).end();
    await expect(ask(tool, { symbols: ['BTC'] })).rejects.toThrow('responded with status 500');
    source.instead = undefined;
    await expect(ask(tool, { symbols: ['BTC'] })).resolves.toMatchObject({ prices: [{ price: '100000' }] });
  });
});

describe('a source that fails', () => {
  it.each([
    ['limits requests', 429, 'The price source limits requests. Try again in a moment.'],
    ['refuses the key', 401, "The price source refuses this service's key."],
    ['is no API', 200, 'The price source returned a response that is not JSON.'],
    ['redirects', 302, 'The price source cannot be reached.'],
  ])('as one that %s is told without URL and key', async (_what, status, words) => {
    source.instead = (_req, res) => res.writeHead(status, { location: '/elsewhere' }).end(`<p>${KEY}</p>`);
    const error = await failureOf(ask(open(), { symbols: ['BTC'] }));
    expect(error.message).toBe(`No price source answered. ${words}`);
    expect(inspect(error, { depth: 20 })).not.toMatch(new RegExp(`${KEY}|127\\.0\\.0\\.1`));
    expect(source.requests).toHaveLength(1);
    await expect(ask(open(), { symbols: ['ETH', 'BTC'] })).resolves.toMatchObject({
      prices: [{ source: 'chainlink' }, { symbol: 'BTC', error: words }],
    });
  });

  it.each([
    ['too many bytes', `{"bitcoin": "${'0'.repeat(256 * 1024)}"}`],
    ['too many values', `[${'0,'.repeat(10_001)}0]`],
    ['nested arrays', '['.repeat(9)],
  ])('or sends %s, is cut off', async (_what, body) => {
    source.instead = (_req, res) => res.end(body);
    await expect(ask(open(), { symbols: ['BTC'] })).rejects.toThrow(
      'The price source returned a response that is too large.',
    );
  });

  it.each(['1e400', '-1', '"7"', 'null'])('or sends the invalid price %s, has no price', async (price) => {
    source.instead = (_req, res) => res.end(`{"bitcoin":{"usd":${price}}}`);
    await expect(ask(open(), { symbols: ['BTC'] })).rejects.toThrow('has no price of BTC in USD');
  });

  it('or sends an error with an endless body, loses the connection', async () => {
    const request = source.nextRequest();
    source.instead = (_req, res) => {
      res.writeHead(503);
      endlessly(res);
    };
    await expect(ask(open(), { symbols: ['BTC'] })).rejects.toThrow('responded with status 503');
    const response = await request;
    if (!response.closed) await once(response, 'close');
  });

  it('or hangs, is given up on', async () => {
    source.instead = (_req, res) => res.write('{');
    const http = { baseUrl: source.baseUrl, ids: { BTC: 'bitcoin' }, timeoutMs: 50 };
    await expect(ask(open({ http }), { symbols: ['BTC'] })).rejects.toThrow('did not answer within 0.05 s');
  });

  it.each([256, 10_000_000])('or a contract with %i decimals, gives no price', async (decimals) => {
    const word = BigInt(decimals);
    const result = encodeAbiParameters([{ type: 'uint256[5]' }], [[word, 1n, BigInt(NOW), BigInt(NOW), 1n]]);
    const chains = [{ id: 31_337, name: 'Local', rpcUrls: [source.baseUrl] }];
    source.instead = (_req, res) => res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    const error = await failureOf(ask(open({ chains, http: null }), { symbols: ['ETH'] }));
    expect(error.message).toContain(`The contract returned ${String(decimals)} decimals`);
  });

  it('on a chain is reported without its URL', async () => {
    const chains = [{ id: 31_337, name: 'Local', rpcUrls: [`${source.baseUrl}${KEY}`] }];
    source.instead = (_req, res) => res.writeHead(503).end();
    const error = await failureOf(ask(open({ chains, http: null }), { symbols: ['ETH'] }));
    expect(error.message).toBe('No price source answered. The node of Local responded with status 503.');
  });
});

describe('plain decimals', () => {
  it.each([
    [1.2e-7, '0.00000012'],
    [1e21, '1000000000000000000000'],
    [1.5e22, '15000000000000000000000'],
    [0, '0'],
    [3150.12, '3150.12'],
  ])('%d is %s', (value, text) => {
    expect(plainDecimal(value)).toBe(text);
  });

  it('have no exponent and the same value', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }), (value) => {
        const text = plainDecimal(value);
        expect(text).toMatch(/^\d+(?:\.\d+)?$/);
        expect(Number(text)).toBe(value);
      }),
    );
  });
});
