import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../src/config/mistakes.js';
import { NO_LIMITS } from '../src/core/model/quota.js';
import { describeDatabase } from '../src/config/network.js';
import { readConfig, type Config, type ConfigSources } from '../src/config.js';

const CWD = '/srv/diptych';
const KEY = Buffer.alloc(32, 7).toString('base64');

function read(
  env: ConfigSources['env'] = {},
  yaml?: string,
  more: Partial<ConfigSources> = {},
): Promise<Config> {
  const files = new Map(yaml === undefined ? [] : [[`${CWD}/diptych.yaml`, yaml]]);
  return readConfig({
    env,
    cwd: CWD,
    readFile: (path) => {
      const text = files.get(path);
      if (text === undefined) throw Object.assign(new Error('none'), { code: 'ENOENT' });
      return text;
    },
    ...more,
  });
}

async function mistakesOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  throw new Error('was taken');
}

describe('defaults', () => {
  it('are those of the document, without an environment or a file', async () => {
    expect(await read()).toEqual({
      childEnvironment: {},
      redisPrefix: null,
      preparesStatements: true,
      tools: { allowHosts: [], chains: [], modules: [], prices: null, servers: [] },
      limits: { session: NO_LIMITS, key: NO_LIMITS },
      host: '127.0.0.1',
      port: 8080,
      surfaces: ['current', 'legacy'],
      rootSurface: 'merged',
      appKeyHeaders: [],
      database: { kind: 'sqlite', path: '/srv/diptych/data/diptych.db' },
      redisUrl: null,
      secretsKeys: null,
      corsOrigins: null,
      rateLimit: 6000,
      trustProxy: false,
      adminToken: null,
      page: true,
      pageSettings: { title: null, logo: null, colors: {}, prompts: null },
      streamLimit: 1000,
      metrics: true,
      metricsToken: null,
      traces: null,
      walletProof: 'off',
      walletProofDomains: null,
      walletProofChains: null,
      walletRequestMs: 86_400_000,
      walletConfirmMs: 90_000,
      logLevel: 'info',
      maxMessageBytes: 65_536,
      maxSessionBytes: 33_554_432,
      maxSecretsBytes: 67_108_864,
      maxQueued: 50,
      maxSteps: 16,
      turnTimeoutMs: 600_000,
      toolTimeoutMs: 60_000,
      busyStrategy: 'enqueue',
      eventsKept: 1000,
      sseKeepaliveMs: 15_000,
      drainTimeoutMs: 10_000,
      retentionMs: null,
      demoTokenMs: 15,
      legacy: { deprecatedAt: null, sunsetAt: null, link: null, webhook: null, webhookDays: 30 },
      apps: [
        {
          name: 'default',
          instructions: 'You are a helpful assistant.',
          rigs: null,
          toolServers: [],
          tools: null,
          secrets: [],
          busyStrategy: null,
          prompts: null,
          wallet: null,
        },
      ],
      rigs: [],
      providerKeys: {},
      modelRigs: [],
      file: null,
    });
  });
});

describe('precedence', () => {
  const yaml = 'settings: { PORT: 1001, HOST: file.example, RATE_LIMIT: 7 }';

  it('is flags, environment, file, default', async () => {
    const config = await read({ PORT: '1002', HOST: 'env.example' }, yaml, { overrides: { PORT: '1003' } });
    expect([config.port, config.host, config.rateLimit, config.maxQueued]).toEqual([
      1003,
      'env.example',
      7,
      50,
    ]);
  });

  it('passes over blank values', async () => {
    const config = await read({ PORT: '', HOST: ' ' }, yaml, { overrides: { PORT: undefined } });
    expect([config.port, config.host]).toEqual([1001, 'file.example']);
  });

  it('names where a wrong value came from', async () => {
    expect(await mistakesOf(read({ PORT: 'x' }))).toEqual([
      'PORT: must be a whole number from 0 to 65535, not "x"',
    ]);
    expect(await mistakesOf(read({}, undefined, { overrides: { PORT: 'x' } }))).toEqual([
      '--port: must be a whole number from 0 to 65535, not "x"',
    ]);
    expect(await mistakesOf(read({}, 'settings: { PORT: x }'))).toEqual([
      'diptych.yaml: settings.PORT: must be a whole number from 0 to 65535',
    ]);
  });
});

describe('the end of the legacy surface', () => {
  it('is not before its deprecation', async () => {
    const dates = { LEGACY_DEPRECATED_AT: '2027-06-30', LEGACY_SUNSET_AT: '2027-06-29' };
    await expect(read(dates)).rejects.toMatchObject({
      mistakes: [{ where: 'LEGACY_SUNSET_AT', what: 'must not be before LEGACY_DEPRECATED_AT' }],
    });
    await expect(read({ ...dates, LEGACY_SUNSET_AT: '2027-06-30' })).resolves.toBeDefined();
  });
});

describe('settings', () => {
  it.each<[string, string, (config: Config) => unknown, unknown]>([
    ['HOST', '::1', (c) => c.host, '::1'],
    ['HOST', 'fe80::1%eth0', (c) => c.host, 'fe80::1%eth0'],
    ['HOST', 'node-1.example', (c) => c.host, 'node-1.example'],
    ['SURFACES', 'legacy', (c) => c.surfaces, ['legacy']],
    ['SURFACES', ' legacy , current ', (c) => c.surfaces, ['current', 'legacy']],
    ['PAGE', 'off', (c) => c.page, false],
    ['PAGE', 'no', (c) => c.page, false],
    ['DATABASE_PREPARED', 'off', (c) => c.preparesStatements, false],
    ['DATABASE_URL', 'sqlite::memory:', (c) => c.database, { kind: 'sqlite', path: null }],
    ['DATABASE_URL', 'sqlite:x.db', (c) => c.database, { kind: 'sqlite', path: '/srv/diptych/x.db' }],
    ['DATABASE_URL', 'sqlite:/var/x.db', (c) => c.database, { kind: 'sqlite', path: '/var/x.db' }],
    ['DATABASE_URL', 'sqlite:///var/x.db', (c) => c.database, { kind: 'sqlite', path: '/var/x.db' }],
    [
      'CORS_ORIGINS',
      'https://A.example, http://b.example:81',
      (c) => c.corsOrigins,
      ['https://a.example', 'http://b.example:81'],
    ],
    [
      'WALLET_PROOF_DOMAINS',
      'App.example.org, localhost:3000',
      (c) => c.walletProofDomains,
      ['app.example.org', 'localhost:3000'],
    ],
    ['TRUST_PROXY', '2', (c) => c.trustProxy, 2],
    ['TRUST_PROXY', 'true', (c) => c.trustProxy, true],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/8', (c) => c.trustProxy, ['loopback', '10.0.0.0/8']],
    ['TURN_TIMEOUT', '0.25', (c) => c.turnTimeoutMs, 250],
    ['RETENTION_DAYS', '30', (c) => c.retentionMs, 30 * 86_400_000],
    ['RETENTION_DAYS', 'off', (c) => c.retentionMs, null],
    ['RETENTION_DAYS', 'false', (c) => c.retentionMs, null],
    ['WALLET_PROOF', 'false', (c) => c.walletProof, 'off'],
    ['RATE_LIMIT', '0', (c) => c.rateLimit, 0],
    ['LEGACY_WEBHOOK', 'https://hooks.example/x', (c) => c.legacy.webhook, 'https://hooks.example/x'],
    ['LEGACY_WEBHOOK_DAYS', '14', (c) => c.legacy.webhookDays, 14],
    ['LEGACY_SUNSET_AT', '2027-06-30', (c) => c.legacy.sunsetAt, Date.UTC(2027, 5, 30)],
    [
      'LEGACY_DEPRECATED_AT',
      '2027-06-30T12:00:00+02:00',
      (c) => c.legacy.deprecatedAt,
      Date.UTC(2027, 5, 30, 10),
    ],
    ['REDIS_URL', 'redis://:pw@cache:6379', (c) => c.redisUrl, 'redis://:pw@cache:6379'],
    ['SECRETS_KEY', `${KEY},${KEY.replace('B', 'C')}`, (c) => c.secretsKeys?.length, 2],
    ['ANTHROPIC_API_KEY', 'sk-ant', (c) => c.providerKeys, { anthropic: 'sk-ant' }],
  ])('%s=%s', async (name, value, pick, expected) => {
    expect(pick(await read({ [name]: value }))).toEqual(expected);
  });

  it('takes PostgreSQL, and then a key of secrets that all nodes share', async () => {
    const url = 'postgres://user:hunter2@db.example/diptych';
    const config = await read({ DATABASE_URL: url, SECRETS_KEY: KEY });
    expect(config.database).toEqual({ kind: 'postgres', url });
    expect(describeDatabase(config.database)).toBe('PostgreSQL at db.example/diptych');
    expect(await mistakesOf(read({ DATABASE_URL: url }))).toEqual([
      expect.stringMatching(/^SECRETS_KEY: is needed/),
    ]);
  });

  it.each([
    ['HOST', '[::1]'],
    ['HOST', 'http://127.0.0.1'],
    ['HOST', '127.0.0.1:8080'],
    ['HOST', '0.0.0.0/0'],
    ['HOST', 'local host'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '65536'],
    ['PORT', '0x50'],
    ['SURFACES', 'current,modern'],
    ['SURFACES', 'current,current'],
    ['SURFACES', ','],
    ['PAGE', 'maybe'],
    ['DATABASE_URL', 'mysql://x'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'sqlite::memory'],
    ['DATABASE_URL', 'sqlite:~/x.db'],
    ['DATABASE_URL', 'sqlite:./data/'],
    ['DATABASE_URL', 'sqlite:x.db?mode=ro'],
    ['DATABASE_URL', 'sqlite://data/x.db'],
    ['DATABASE_URL', 'sqlite://'],
    ['DATABASE_URL', 'postgres:hunter2'],
    ['REDIS_URL', 'http://:hunter2@cache'],
    ['SECRETS_KEY', 'hunter2'],
    ['SECRETS_KEY', `${KEY},${KEY}`],
    ['CORS_ORIGINS', 'https://a.example/path'],
    ['CORS_ORIGINS', 'a.example'],
    ['CORS_ORIGINS', 'https://*.a.example'],
    ['RATE_LIMIT', 'off'],
    ['WALLET_PROOF_DOMAINS', 'https://app.example.org'],
    ['WALLET_PROOF_DOMAINS', 'app.example.org/login'],
    ['WALLET_PROOF', 'on'],
    ['WALLET_PROOF_CHAINS', 'mainnet'],
    ['WALLET_PROOF_CHAINS', '1'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '::/0'],
    ['TRUST_PROXY', 'everyone'],
    ['LOG_LEVEL', 'loud'],
    ['MAX_STEPS', '0'],
    ['TURN_TIMEOUT', '0'],
    ['SSE_KEEPALIVE', '61'],
    ['TURN_TIMEOUT', '10m'],
    ['TURN_TIMEOUT', '99999999'],
    ['RETENTION_DAYS', '0'],
    ['WALLET_PROOF', 'true'],
    ['BUSY_STRATEGY', 'queue'],
    ['LEGACY_SUNSET_AT', '2027-02-30'],
    ['LEGACY_SUNSET_AT', 'soon'],
    ['LEGACY_LINK', 'ftp://x'],
    ['LEGACY_WEBHOOK', 'mailto:me@example.org'],
    ['LEGACY_WEBHOOK_DAYS', '0'],
  ])('refuses %s=%s', async (name, value) => {
    const mistakes = await mistakesOf(read({ [name]: value }));
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toMatch(new RegExp(`^${name}: `));
    expect(mistakes[0]).not.toContain('hunter2');
  });

  it.each([
    ['DATABASE_URL', 'postgres://user:hunter2/@db/diptych'],
    ['DATABASE_URL', 'postgres://user:hunter2#@db/diptych'],
    // A URL of the host `user`, with the port 12.
    ['DATABASE_URL', 'postgres://user:12/hunter2@db/diptych'],
    ['REDIS_URL', 'redis://:hunter2/@cache'],
    ['REDIS_URL', 'redis://:hunter2%@cache'],
    ['REDIS_URL', 'redis://user:12#hunter2@cache'],
  ])('says of %s=%s how a password is written', async (name, value) => {
    const [mistake = '', ...others] = await mistakesOf(read({ [name]: value, SECRETS_KEY: KEY }));
    expect(mistake).toMatch(
      /must be a URL such as .*; a password has its special characters percent-encoded/,
    );
    expect(mistake).not.toContain('hunter2');
    expect(others).toEqual([]);
  });

  it('refuses to ask wallets for proofs without the sites where they sign in', async () => {
    const mistakes = await mistakesOf(read({ WALLET_PROOF: 'required' }));
    expect(mistakes).toEqual([expect.stringMatching(/^WALLET_PROOF_DOMAINS: /)]);
    const config = await read({ WALLET_PROOF: 'required', WALLET_PROOF_DOMAINS: 'app.example.org' });
    expect(config.walletProof).toBe('required');
  });

  it('knows the chains whose contract wallets may sign in, in their order', async () => {
    const chain = (id: number) => `{ id: ${String(id)}, name: C, rpcUrls: ['http://127.0.0.1:8545'] }`;
    const file = `chains: [${chain(1)}, ${chain(10)}]`;
    expect((await read({ WALLET_PROOF_CHAINS: '10, 1' }, file)).walletProofChains).toEqual([10, 1]);
    expect((await read({ WALLET_PROOF_CHAINS: 'none' }, file)).walletProofChains).toEqual([]);
    expect(await mistakesOf(read({ WALLET_PROOF_CHAINS: '1,137' }, file))).toEqual([
      expect.stringMatching(
        /^WALLET_PROOF_CHAINS: names chain 137, which is not configured; there are 1, 10/,
      ),
    ]);
    for (const wrong of ['1,1', '0', '0x1', '1.5', ',']) {
      expect(await mistakesOf(read({ WALLET_PROOF_CHAINS: wrong }, file))).toHaveLength(1);
    }
  });
});

describe('the file', () => {
  it('gives the tools: chains, prices, servers, modules and the hosts that they may reach', async () => {
    const { tools, apps } = await read(
      { NODE_URL: 'http://127.0.0.1:8545', KEY: 'k' },
      `
tools: ./tools/*.mjs
chains: [{ id: 1, name: Ethereum, rpcUrls: ['\${NODE_URL}'], tokens: [{ symbol: USDC, address: '0x${'a'.repeat(40)}' }] }]
prices:
  feeds: [{ symbol: ETH, chainId: 1, address: '0x${'b'.repeat(40)}', heartbeat: 3600 }]
  http: { baseUrl: 'https://prices.example', apiKey: '\${KEY}', ids: { ETH: ethereum } }
mcp:
  - { name: files, command: node, args: [server.js], env: { TOKEN: '$SECRET:TOKEN' } }
  - { name: remote, url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer $SECRET:API_KEY' }, timeout: 5, sideEffects: none }
allowHosts: ['127.0.0.1:9000']
apps: [{ name: desk, mcp: [files], tools: [get_time, files.read] }]
`,
    );
    expect(apps[1]).toMatchObject({ toolServers: ['files'], tools: ['get_time', 'files.read'] });
    expect(tools).toEqual({
      modules: ['./tools/*.mjs'],
      chains: [
        {
          ...{ id: 1, name: 'Ethereum', rpcUrls: ['http://127.0.0.1:8545'] },
          tokens: [{ symbol: 'USDC', address: `0x${'a'.repeat(40)}` }],
        },
      ],
      prices: {
        cacheSeconds: 15,
        feeds: [{ symbol: 'ETH', chainId: 1, address: `0x${'b'.repeat(40)}`, heartbeatSeconds: 3600 }],
        http: { baseUrl: 'https://prices.example', apiKey: 'k', ids: { ETH: 'ethereum' }, currency: 'usd' },
      },
      servers: [
        {
          name: 'files',
          transport: {
            kind: 'stdio',
            command: 'node',
            args: ['server.js'],
            env: { TOKEN: '$SECRET:TOKEN' },
            cwd: null,
          },
          timeoutMs: null,
          sideEffects: 'yes',
        },
        {
          name: 'remote',
          transport: {
            kind: 'http',
            url: 'https://tools.example/mcp',
            headers: { Authorization: 'Bearer $SECRET:API_KEY' },
          },
          timeoutMs: 5000,
          sideEffects: 'none',
        },
      ],
      allowHosts: ['127.0.0.1:9000'],
    });
    const wrong = read(
      {},
      'mcp: [{ name: a }, { name: a, command: x, url: y }, { name: c, command: x, timeout: 2147484 }]\napps: [{ name: x, mcp: [b] }]',
    );
    expect(await mistakesOf(wrong)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('mcp[0]: must have either a command'),
        expect.stringContaining('mcp[2].timeout: must be at most 2147483'),
        expect.stringContaining('mcp[1].name: is the same as mcp[0].name'),
        expect.stringContaining('apps[0].mcp[0]: there is no tool server "b"'),
      ]),
    );
  });

  it('gives Apps and rigs, with variables filled in', async () => {
    const yaml = `
rigs:
  - id: gpt-4o
    name: GPT-4o
    provider: openai-compatible
    model: gpt-4o-2024
    baseUrl: \${BASE}/v1
    apiKey: \${MY_KEY}
    contextTokens: \${TOKENS}
  - { id: claude, provider: anthropic }
  - { id: practice, provider: demo }
apps:
  - name: mycoindex
    instructions: 'Say $\${NAME}: {"a": 1}'
    rigs: [claude, demo]
    tools: []
    secrets:
      - { name: API_KEY, description: Vendor API key, required: true }
    busyStrategy: reject
`;
    const env = { BASE: 'http://m.example', MY_KEY: 'k: {evil}', TOKENS: '32000', ANTHROPIC_API_KEY: 'a' };
    const { rigs, apps, file } = await read(env, yaml);
    expect(file).toBe('/srv/diptych/diptych.yaml');
    expect(rigs).toEqual([
      {
        id: 'gpt-4o',
        name: 'GPT-4o',
        provider: 'openai-compatible',
        model: 'gpt-4o-2024',
        baseUrl: 'http://m.example/v1',
        apiKey: 'k: {evil}',
        contextTokens: 32_000,
      },
      {
        id: 'claude',
        name: 'claude',
        provider: 'anthropic',
        model: 'claude',
        baseUrl: null,
        apiKey: 'a',
        contextTokens: 128_000,
      },
      { id: 'practice', name: 'practice', provider: 'demo' },
    ]);
    expect(apps.map(({ name }) => name)).toEqual(['default', 'mycoindex']);
    expect(apps[1]).toEqual({
      name: 'mycoindex',
      instructions: 'Say ${NAME}: {"a": 1}',
      prompts: null,
      rigs: ['claude', 'demo'],
      toolServers: [],
      tools: [],
      secrets: [{ name: 'API_KEY', description: 'Vendor API key', required: true }],
      busyStrategy: 'reject',
      wallet: null,
    });
  });

  it('of the documentation is a good one', async () => {
    const yaml = readFileSync(new URL('../docs/examples/diptych.yaml', import.meta.url), 'utf8');
    const { rigs, apps, port } = await read({ OPENAI_API_KEY: 'sk-x' }, yaml);
    expect(rigs.map(({ id }) => id)).toEqual(['gpt-4o', 'local']);
    expect(apps.map(({ name }) => name)).toEqual(['default', 'mycoindex']);
    expect(port).toBe(8080);
  });

  it('may place default itself', async () => {
    const { apps } = await read({}, 'apps: [{ name: a }, { name: default, instructions: Be brief. }]');
    expect(apps.map(({ name, instructions }) => [name, instructions])).toEqual([
      ['a', 'You are a helpful assistant.'],
      ['default', 'Be brief.'],
    ]);
  });

  it.each(['', '# nothing', 'rigs:\napps:\nsettings:'])('may be empty (%j)', async (yaml) => {
    expect((await read({}, yaml)).apps).toHaveLength(1);
  });

  it('leaves rigs of Apps open while keys in the environment decide which there are', async () => {
    const yaml = 'apps: [{ name: a, rigs: [gpt-4o] }]';
    expect((await read({ OPENAI_API_KEY: 'x' }, yaml)).apps[1]?.rigs).toEqual(['gpt-4o']);
    expect(await mistakesOf(read({}, yaml))).toEqual([
      'diptych.yaml: apps[0].rigs[0]: there is no rig "gpt-4o"; there are demo',
    ]);
  });

  it('names the chains that there are when a price feed is on another one', async () => {
    const feed = (chainId: number) =>
      `{ symbol: ETH, chainId: ${String(chainId)}, address: '0x${'b'.repeat(40)}' }`;
    const chains = `chains: [{ id: 1, name: One, rpcUrls: ['http://a.example'] }]`;
    expect(await mistakesOf(read({}, `${chains}\nprices: { feeds: [${feed(1)}, ${feed(5)}] }`))).toEqual([
      'diptych.yaml: prices.feeds[1].chainId: there is no chain 5; there are 1',
    ]);
    expect(await mistakesOf(read({}, `prices: { feeds: [${feed(1)}] }`))).toEqual([
      'diptych.yaml: prices.feeds[0].chainId: there is no chain 1; there are none',
    ]);
  });

  it('must be there when it was asked for', async () => {
    expect(await mistakesOf(read({ CONFIG_FILE: 'other.yaml' }))).toEqual([
      'CONFIG_FILE: there is no file /srv/diptych/other.yaml',
    ]);
    expect(await mistakesOf(read({}, undefined, { overrides: { CONFIG_FILE: '/x.yaml' } }))).toEqual([
      '--config: there is no file /x.yaml',
    ]);
  });

  it('that cannot be read is a mistake, asked for or not', async () => {
    const readFile = (): string => {
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    };
    expect(await mistakesOf(read({}, undefined, { readFile }))).toEqual([
      'CONFIG_FILE: /srv/diptych/diptych.yaml cannot be read (EACCES)',
    ]);
  });

  it('is taken from where CONFIG_FILE says, and named so', async () => {
    const more = { readFile: (path: string) => (path === '/etc/d.yaml' ? 'x: 1' : '') };
    expect(await mistakesOf(read({ CONFIG_FILE: '/etc/d.yaml' }, undefined, more))).toEqual([
      '/etc/d.yaml: has unknown keys: x; known are settings, rigs, apps, tools, chains, prices, mcp, allowHosts, page, limits',
    ]);
  });

  it('is not quoted where it is not YAML', async () => {
    const mistakes = await mistakesOf(read({}, 'rigs:\n  - apiKey: "sk-hunter2\n   id: [sk-hunter2'));
    expect(mistakes.join('\n')).toMatch(/^diptych.yaml: line \d+, column \d+ is not valid YAML \(/);
    expect(mistakes.join('\n')).not.toContain('hunter2');
  });

  it('reports two chains with one id', async () => {
    const chain = "{ id: 10, name: x, rpcUrls: ['http://127.0.0.1:8545'] }";
    expect(await mistakesOf(read({}, `chains: [${chain}, ${chain}]`))).toEqual([
      'diptych.yaml: chains[1].id: is the same as chains[0].id',
    ]);
  });

  it('reports an alias to what contains it', async () => {
    expect(await mistakesOf(read({}, 'apps: &apps\n  - name: one\n    tools: *apps\n'))).toEqual([
      'diptych.yaml: has aliases that cannot be resolved, or too many of them',
    ]);
  });

  it('cannot exhaust memory with aliases', async () => {
    const levels = Array.from({ length: 12 }, (_, n) =>
      n === 0 ? 'l0: &l0 [x, x]' : `l${String(n)}: &l${String(n)} [${`*l${String(n - 1)}, `.repeat(9)}]`,
    );
    expect((await mistakesOf(read({}, levels.join('\n')))).join()).toContain('aliases');
  });
});

describe('mistakes', () => {
  it('are listed all at once, from the environment, the shape of the file and between its parts', async () => {
    const yaml = `
colour: red
settings: { PROT: 1, MAX_QUEUED: many, MAX_STEPS: '\${UNSET_TOO}' }
rigs:
  - { id: a, provider: openai-compatible, model: m, apiKey: sk-hunter2, temp: 1 }
  - { id: a, provider: open-ai, model: m }
  - { id: b, provider: openai, apiKey: '\${NOT_SET}' }
  - { id: c, provider: google, contextTokens: 5 }
  - { id: demo, provider: anthropic, apiKey: 5 }
  - { id: d, provider: demo, model: x }
  - { id: e, provider: openai-compatible, baseUrl: sk-hunter2 }
apps:
  - { name: 'a b' }
  - { name: one, rigs: [a, ghost, a], tools: [t, t], secrets: [{ name: K }, { name: K }] }
  - { name: one, rigs: [], busyStrategy: wait, secrets: [{ name: 1x, required: yes please }] }
  - just text
`;
    const mistakes = await mistakesOf(read({ PORT: 'abc', SECRETS_KEY: 'hunter2' }, yaml));
    const expected = [
      'PORT: must be a whole number from 0 to 65535, not "abc"',
      'SECRETS_KEY: must be 32 bytes in base64',
      'diptych.yaml: has unknown keys: colour; known are settings, rigs, apps, tools, chains, prices, mcp, allowHosts, page, limits',
      'diptych.yaml: settings.PROT: is not a setting; there are DATABASE_URL, HOST, PORT, ',
      'diptych.yaml: settings.MAX_STEPS: the environment variable UNSET_TOO is not set',
      'diptych.yaml: settings.MAX_QUEUED: must be a whole number from 0 to 10000',
      'diptych.yaml: rigs[0]: has unknown keys: temp; known are id, name, provider, model, baseUrl, apiKey, contextTokens, headers, temperature, maxOutputTokens, tools, reasoning',
      'diptych.yaml: rigs[0].baseUrl: is needed with openai-compatible: the URL that ends before /chat/completions',
      'diptych.yaml: rigs[1].id: is the same as rigs[0].id',
      'diptych.yaml: rigs[1].provider: must be one of openai-compatible, openai, anthropic, google, demo',
      'diptych.yaml: rigs[2].apiKey: the environment variable NOT_SET is not set',
      'diptych.yaml: rigs[3].apiKey: is needed with google, here or as GOOGLE_GENERATIVE_AI_API_KEY in the environment',
      'diptych.yaml: rigs[3].contextTokens: must be a whole number of tokens, 512 or more',
      "diptych.yaml: rigs[4].id: demo is the built-in rig's id; choose another",
      'diptych.yaml: rigs[4].apiKey: must be text that is not blank',
      'diptych.yaml: rigs[5].model: has no meaning with the provider demo; leave it out',
      'diptych.yaml: rigs[6].baseUrl: must be an http or https URL',
      'diptych.yaml: apps[0].name: must have 1 to 64 letters',
      'diptych.yaml: apps[1].rigs[1]: there is no rig "ghost"; there are a, b, c, demo, d, e',
      'diptych.yaml: apps[1].rigs[2]: is the same as apps[1].rigs[0]',
      'diptych.yaml: apps[1].tools[1]: is the same as apps[1].tools[0]',
      'diptych.yaml: apps[1].secrets[1].name: is the same as apps[1].secrets[0].name',
      'diptych.yaml: apps[2].name: is the same as apps[1].name',
      'diptych.yaml: apps[2].rigs: must name at least one rig; leave it out to allow all',
      'diptych.yaml: apps[2].busyStrategy: must be one of enqueue, interrupt, reject',
      'diptych.yaml: apps[2].secrets[0].name: must have 1 to 64',
      'diptych.yaml: apps[2].secrets[0].required: must be true or false',
      'diptych.yaml: apps[3]: must have the keys name, instructions, rigs, tools, mcp, secrets, busyStrategy, wallet',
    ].toSorted();
    // Some are given by their beginnings.
    const found = mistakes.toSorted().map((mistake, index) => {
      const beginning = expected[index];
      return beginning !== undefined && mistake.startsWith(beginning) ? beginning : mistake;
    });
    expect(found).toEqual(expected);
    expect(mistakes.join('\n')).not.toContain('hunter2');
  });
});
