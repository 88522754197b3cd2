import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createMcpServers } from '../../src/adapters/tools/mcp/servers.js';
import { createScrubber } from '../../src/adapters/tools/mcp/secrets.js';
import { mcpProblems, secretsOf } from '../../src/adapters/tools/mcp/settings.js';
import { createSchemas } from '../../src/adapters/tools/schema/schemas.js';
import { keptLog } from '../support/core.js';
import { startHttpScript, type HttpScript } from '../support/mcp-http.js';
import { closeMcp, isAlive, overHttp, progressOf, scripted, startMcp, type Started } from '../support/mcp.js';

const ALICE = new Map([['API_KEY', 'alice-key-12345']]);
const BOB = new Map([['API_KEY', 'bob-key-6789']]);
const HEADERS = { authorization: 'Bearer $SECRET:API_KEY' };
jest.setTimeout(30_000); // Children take a while on a machine that is busy.

const scripts: HttpScript[] = [];

afterEach(async () => {
  await closeMcp();
  await Promise.all(scripts.splice(0).map((script) => script.close()));
});

async function startScript(options: Parameters<typeof startHttpScript>[0] = {}): Promise<HttpScript> {
  const script = await startHttpScript(options);
  scripts.push(script);
  return script;
}

const has = (mcp: Started, name: string) => (): boolean =>
  mcp.servers.list().some((tool) => tool.name === name);

describe('a server with handles', () => {
  it('lists without a secret, and calls with the one of the session', async () => {
    const script = await startScript();
    const mcp = startMcp([overHttp('s', script.url, HEADERS)]);
    await mcp.until(has(mcp, 's.echo'));
    expect([...script.seen]).toEqual([]);
    expect(await mcp.call('s.whoami', {}, { secrets: ALICE })).toBe('key of 15 characters');
    expect(await mcp.call('s.whoami', {}, { secrets: BOB })).toBe('key of 12 characters');
    expect(await mcp.call('s.whoami', {}, { secrets: ALICE })).toBe('key of 15 characters');
    expect([...script.seen]).toEqual(['Bearer alice-key-12345', 'Bearer bob-key-6789']);
    // One for the list, one for each of them.
    expect(script.begun).toBe(3);
    script.forget();
    expect(await mcp.call('s.whoami', {}, { secrets: ALICE })).toBe('key of 15 characters');
  });

  it('that shows its tools to those with a secret only has one tool until somebody brings one', async () => {
    const script = await startScript({ needsKey: true });
    const mcp = startMcp([overHttp('s', script.url, HEADERS)]);
    await mcp.servers.tried(AbortSignal.timeout(10_000));
    expect(mcp.servers.list().map(({ name }) => name)).toEqual(['s.connect']);
    expect(mcp.servers.states()[0]?.problem).toBe('The tool server s refused the credentials (HTTP 401).');
    expect(await mcp.call('s.connect', {}, { secrets: ALICE })).toMatchObject({ connected: true });
    expect(has(mcp, 's.connect')()).toBe(false);
    expect(mcp.servers.states()[0]?.problem).toBeNull();
    expect(await mcp.call('s.whoami', {}, { secrets: BOB })).toBe('key of 12 characters');
  });

  it('starts a child for each secret, and ends them all', async () => {
    const mcp = startMcp([scripted('s', { API_KEY: '$SECRET:API_KEY', NEEDS_KEY: '1' })]);
    await mcp.servers.tried(AbortSignal.timeout(20_000));
    await mcp.call('s.connect', {}, { secrets: ALICE });
    const pids = await Promise.all(
      [ALICE, BOB, ALICE].map(async (secrets) => {
        const result = await mcp.call('s.pid', {}, { secrets });
        return typeof result === 'object' && result !== null && 'pid' in result ? Number(result.pid) : 0;
      }),
    );
    expect(pids[0]).toBe(pids[2]);
    expect(pids[0]).not.toBe(pids[1]);
    await mcp.servers.close();
    expect(pids.map(isAlive)).toEqual([false, false, false]);
  });

  it('names the secret that is missing or cannot be sent', async () => {
    const script = await startScript();
    const mcp = startMcp([overHttp('s', script.url, HEADERS)]);
    await mcp.until(has(mcp, 's.echo'));
    await expect(mcp.call('s.echo')).rejects.toThrow(
      'This tool needs the secret API_KEY, which is not stored for this session.',
    );
    const split = new Map([['API_KEY', 'one\r\nx-admin: yes']]);
    await expect(mcp.call('s.echo', {}, { secrets: split })).rejects.toThrow(
      'The secret API_KEY has characters that cannot be sent to the tool server.',
    );
    expect([...script.seen]).toEqual([]);
  });

  it('never gets a secret into words, progress, results or logs', async () => {
    const script = await startScript();
    const mcp = startMcp([
      overHttp('s', script.url, HEADERS),
      scripted('c', { API_KEY: '$SECRET:API_KEY', NOISE: 'starting' }),
    ]);
    await mcp.until(() => has(mcp, 's.echo')() && has(mcp, 'c.echo')());
    for (const server of ['s', 'c']) {
      await expect(mcp.call(`${server}.fail`, {}, { secrets: ALICE })).rejects.toThrow(
        'upstream refused "$SECRET:API_KEY"',
      );
      const rejected: unknown = await mcp
        .call(`${server}.reject`, {}, { secrets: ALICE })
        .catch((error: unknown) => error);
      expect(allOf(rejected)).toContain('bad header: Bearer $SECRET:API_KEY');
      expect(allOf(rejected)).not.toContain('alice-key');
      const told = progressOf();
      const leaked = await mcp.call(`${server}.leak`, {}, { secrets: ALICE, progress: told.progress });
      expect(leaked).toEqual({ '$SECRET:API_KEY': ['$SECRET:API_KEY'] });
      expect(told.all).toEqual(['using $SECRET:API_KEY']);
    }
    expect(mcp.log.lines.join()).not.toContain('alice-key');
  });

  it('never gets a part of a secret into what is cut', async () => {
    const script = await startScript();
    const mcp = startMcp([overHttp('s', script.url, HEADERS)]);
    await mcp.until(has(mcp, 's.echo'));
    // The secret begins before the limit, and ends after it.
    for (const [name, words] of [
      ['fail', 'upstream refused "'],
      ['reject', 'bad header: Bearer '],
    ] as const) {
      const pad = 2_000 - 6 - words.length;
      const call = mcp.call(`s.${name}`, { pad }, { secrets: ALICE });
      await expect(call).rejects.toThrow(`${words}$SECRE…`);
    }
    const whispered = await mcp.call('s.whisper', { pad: 262_144 - 6 }, { secrets: ALICE });
    expect(JSON.stringify(whispered).slice(-9)).toBe('x$SECRE…"');
  });

  it('never gets a secret into its list of tools', async () => {
    const script = await startScript({ needsKey: true });
    const mcp = startMcp([overHttp('s', script.url, HEADERS)]);
    await mcp.servers.tried(AbortSignal.timeout(10_000));
    await mcp.call('s.connect', {}, { secrets: ALICE });
    expect(mcp.tool('s.writes_to').description).toBe('for $SECRET:API_KEY');
    await mcp.call('s.grow', {}, { secrets: ALICE });
    await mcp.until(has(mcp, 's.grown'));
    expect(mcp.tool('s.writes_to').description).toBe('for $SECRET:API_KEY');
  });

  it('has a bounded number of connections, and closes the idle ones', async () => {
    const script = await startScript();
    const mcp = startMcp([overHttp('s', script.url, HEADERS)], { poolSize: 2, idleMs: 50 });
    await mcp.until(has(mcp, 's.echo'));
    const stop = new AbortController();
    const hanging = ['first-key', 'second-key'].map(async (key) => {
      const told = progressOf();
      const secrets = new Map([['API_KEY', key]]);
      const call = mcp.call('s.hang', {}, { secrets, progress: told.progress, signal: stop.signal });
      call.catch(() => undefined);
      await told.at('hanging');
      return { call };
    });
    const calls = await Promise.all(hanging);
    const third = new Map([['API_KEY', 'third-key']]);
    await expect(mcp.call('s.echo', {}, { secrets: third })).rejects.toThrow('busy with others');
    stop.abort();
    await Promise.allSettled(calls.map(({ call }) => call));
    expect(await mcp.call('s.echo', { text: 'now' }, { secrets: third })).toBe('now');
    await script.sessionsLeft(1);
    expect(await mcp.call('s.echo', { text: 'again' }, { secrets: third })).toBe('again');
  });

  it('is not asked again and again with a secret that it refuses', async () => {
    let refused = 0;
    const script = await startScript({
      intercept: (req, res) => {
        if (req.headers.authorization === undefined) return false;
        refused++;
        res.writeHead(403).end();
        return true;
      },
    });
    const mcp = startMcp([overHttp('s', script.url, HEADERS)], { firstRetryMs: 60_000, maxRetryMs: 60_000 });
    await mcp.until(has(mcp, 's.echo'));
    for (let n = 0; n < 3; n++) {
      await expect(mcp.call('s.echo', {}, { secrets: ALICE })).rejects.toThrow('refused the credentials');
    }
    expect(refused).toBe(1);
  });
});

describe('settings', () => {
  it('name the secrets that they need', () => {
    const server = overHttp('s', 'https://example.com', { a: 'x $SECRET:B y $SECRET:A', b: '$SECRET:A' });
    expect(secretsOf(server)).toEqual(['A', 'B']);
    expect(secretsOf(scripted('s'))).toEqual([]);
  });

  it('are checked, and all mistakes are reported without a value', () => {
    const servers = [
      overHttp('a.b', 'ftp://example.com', { token: 'private $SECRET:' }),
      overHttp('s', 'https://user:pass@example.com?key=$SECRET:A'),
      { ...overHttp('s', 'https://example.com'), timeoutMs: 0 },
      { ...overHttp('t', 'https://example.com'), timeoutMs: 2 ** 31 },
    ];
    const problems = mcpProblems(servers);
    expect(problems.map(({ path }) => path)).toEqual([
      '[0].name',
      '[0].transport.headers.token',
      '[0].transport.url',
      '[1].transport',
      '[1].transport.url',
      '[2].name',
      '[2].timeoutMs',
      '[3].timeoutMs',
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/private|pass@/);
    const deps = { log: keptLog(), schemas: createSchemas(), env: {}, version: '0' };
    expect(() => createMcpServers(servers, deps)).toThrow('[2].timeoutMs: must be more than 0');
  });
});

describe('a scrubber', () => {
  it('knows the usual encodings, and the longest value first', () => {
    const scrub = createScrubber(
      new Map([
        ['SHORT', 'abcd'],
        ['LONG', 'abcd/"efgh'],
      ]),
      ['operator'],
    );
    const long = 'abcd/"efgh';
    const forms = [
      long,
      encodeURIComponent(long),
      JSON.stringify(long),
      Buffer.from(long).toString('base64'),
    ];
    expect(scrub.text(forms.join(' '))).toBe('$SECRET:LONG $SECRET:LONG "$SECRET:LONG" $SECRET:LONG');
    expect(scrub.value({ abcd: ['operator', 1] })).toEqual({ '$SECRET:SHORT': ['[secret]', 1] });
    const error = scrub.error(new Error('of abcd', { cause: new Error('by operator') }));
    expect(allOf(error)).not.toMatch(/abcd|operator/);
  });
});

/** Everything that an error says, its causes and stacks too. */
function allOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.message, error.stack, error.cause === undefined ? '' : allOf(error.cause)].join('\n');
}
