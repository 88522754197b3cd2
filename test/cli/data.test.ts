import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SqliteDatabase } from '../../src/adapters/stores/sqlite/driver.js';
import { CLI, Place } from './running.js';

const SESSION = '6f1ff4a2-1f0a-4a53-9a3c-0a1f5f9a1001';

/** The name of a backup that is not complete. */
const PART = /^copy\.db\.part-[0-9a-f]{8}$/;

// Each test starts processes; a lost lease alone takes 6 seconds.
jest.setTimeout(60_000);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

async function json(args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await place.run([...args, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

function configure(yaml: string): void {
  writeFileSync(join(place.directory, 'diptych.yaml'), yaml);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

describe('help and usage', () => {
  it('shows every command, and help for each', async () => {
    const { code, out } = await place.run(['--help']);
    expect(code).toBe(0);
    const commands = [
      ['serve'],
      ['keys', 'create'],
      ['keys', 'list'],
      ['keys', 'revoke'],
      ['apps', 'list'],
      ['rigs', 'list'],
      ['check'],
      ['chat'],
      ['sessions', 'list'],
      ['sessions', 'show'],
      ['sessions', 'export'],
      ['sessions', 'delete'],
      ['legacy', 'report'],
      ['backup'],
      ['migrate'],
      ['secrets', 'rotate'],
    ];
    const helps = await Promise.all(commands.map((command) => place.run([...command, '--help'])));
    for (const [index, command] of commands.entries()) {
      expect(out).toContain(command[0]);
      expect(helps[index]).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringContaining(`diptych ${command.join(' ')}`),
      });
    }
  });

  it.each([
    [['help'], ['--help']],
    [
      ['help', 'sessions'],
      ['sessions', '--help'],
    ],
    [
      ['sessions', 'help', 'list'],
      ['sessions', 'list', '--help'],
    ],
  ])('%j prints the help of %j', async (args, same) => {
    const { out } = await place.run(same);
    expect(await place.run(args)).toEqual({ code: 0, out, err: '' });
  });

  it.each([
    [['fly']],
    [[]],
    [['sessions']],
    [['help', 'fly']],
    [['keys', 'create']],
    [['keys', 'create', '--app', 'default', '--expires', 'tomorrow']],
    [['keys', 'create', '--app', 'default', '--expires', '2001-01-01']],
    [['keys', 'create', '--app', 'default', '--expires', '2999-02-30']],
    [['keys', 'create', '--app', 'default', '--expires', '2999-01-31T12:00']],
    [['sessions', 'show', 'not-a-uuid']],
    [['sessions', 'list', '--limit', '0']],
    [['chat', '--surface', 'modern']],
    [['chat', '--url', 'ftp://x']],
  ])('%j is a usage error: 2', async (args) => {
    const { code, out, err } = await place.run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
    expect(err).not.toContain('    at ');
  });

  it('a bad configuration is reported with every mistake', async () => {
    const { code, err } = await place.run(['keys', 'list'], { env: { PORT: 'x', RATE_LIMIT: 'y' } });
    expect(code).toBe(2);
    expect(err).toMatch(/PORT: .*\n.*RATE_LIMIT: /);
  });
});

describe('keys', () => {
  it('are created as JSON with exactly the promised fields', async () => {
    configure('apps: [{ name: a }, { name: b }]');
    const before = Date.now();
    const made = await json([
      'keys',
      'create',
      '--app',
      'a',
      '--app',
      'b',
      '--label',
      'bot',
      '--expires',
      '30d',
    ]);
    expect(made).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^sk-app-[A-Za-z0-9_-]{43}$/),
      apps: ['a', 'b'],
      label: 'bot',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const days = (Date.parse(String(field(made, 'expires_at'))) - before) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(30);
    expect(days).toBeLessThan(30.01);
  });

  it('without an end expire never; the key alone is on the output', async () => {
    const { code, out } = await place.run(['keys', 'create', '--app', 'default']);
    expect(code).toBe(0);
    expect(out).toMatch(/^sk-app-[A-Za-z0-9_-]{43}\n$/);
    expect(await json(['keys', 'list'])).toEqual([
      expect.objectContaining({ expires_at: null, status: 'active' }),
    ]);
  });

  it('are noted when their App is not configured', async () => {
    const { code, err } = await place.run(['keys', 'create', '--app', 'typo', '--json']);
    expect(code).toBe(0);
    expect(err).toContain('not in the configuration yet: typo');
  });

  it('are listed and revoked without being shown', async () => {
    configure('apps: [{ name: a }]');
    const made = await json(['keys', 'create', '--app', 'a', '--label', 'bot']);
    const id = String(field(made, 'id'));
    expect(await json(['keys', 'revoke', id])).toEqual({ id, revoked: true });
    const listed = await place.run(['keys', 'list', '--json']);
    expect(JSON.parse(listed.out)).toEqual([
      {
        id,
        apps: ['a'],
        label: 'bot',
        status: 'revoked',
        created_at: expect.any(String),
        expires_at: null,
        revoked_at: expect.any(String),
      },
    ]);
    const table = await place.run(['keys', 'list']);
    expect(table.out).toContain(id);
    expect(`${listed.out}${table.out}`).not.toContain(String(field(made, 'key')));
    expect(readFileSync(place.database).includes(String(field(made, 'key')))).toBe(false);
    expect(await place.run(['keys', 'revoke', 'nope'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^diptych: There is no key nope.*\n$/),
    });
  });

  it('open and close an App of a running service', async () => {
    configure('apps: [{ name: a }]');
    const { url } = await place.serve();
    const made = await json(['keys', 'create', '--app', 'a']);
    const say = async (): Promise<number> => {
      const headers = { 'X-Session-Id': SESSION, 'SERVICE-APP-KEY': String(field(made, 'key')) };
      return (await fetch(`${url}/api/chat?message=hi&app=a`, { method: 'POST', headers })).status;
    };
    expect(await say()).toBe(200);
    await json(['keys', 'revoke', String(field(made, 'id'))]);
    let status = await say();
    while (status === 200) status = await say();
    expect(status).toBe(401);
  });
});

describe('what the configuration gives', () => {
  const yaml = `
rigs:
  - { id: m1, name: Model One, provider: openai-compatible, baseUrl: 'http://127.0.0.1:9', apiKey: '\${K}' }
apps:
  - { name: coin, rigs: [demo], tools: [get_time], secrets: [{ name: API_KEY, description: d, required: true }] }
`;
  const env = { K: 'sk-hunter2' };

  it('apps list', async () => {
    configure(yaml);
    const { out } = await place.run(['apps', 'list', '--json'], { env });
    expect(JSON.parse(out)).toEqual([
      { name: 'default', rigs: null, tools: null, secrets: [], busy_strategy: 'enqueue' },
      {
        name: 'coin',
        rigs: ['demo'],
        tools: ['get_time'],
        secrets: [{ name: 'API_KEY', description: 'd', required: true }],
        busy_strategy: 'enqueue',
      },
    ]);
    expect((await place.run(['apps', 'list'], { env })).out).toContain('API_KEY*');
  });

  it('rigs list, with demo last', async () => {
    configure(yaml);
    const { out } = await place.run(['rigs', 'list', '--json'], { env });
    expect(JSON.parse(out)).toEqual([
      { id: 'm1', name: 'Model One', provider: 'openai-compatible', context_tokens: 128_000 },
      {
        id: 'demo',
        name: expect.any(String),
        provider: expect.any(String),
        context_tokens: expect.any(Number),
      },
    ]);
  });

  it('rigs list, from keys in the environment', async () => {
    const { out } = await place.run(['rigs', 'list', '--json'], { env: { ANTHROPIC_API_KEY: 'x' } });
    const rigs: unknown = JSON.parse(out);
    const providers = Array.isArray(rigs) ? rigs.map((rig: unknown) => field(rig, 'provider')) : [];
    expect(providers.slice(0, -1).every((provider) => provider === 'anthropic')).toBe(true);
    expect(providers.length).toBeGreaterThan(1);
    expect(Array.isArray(rigs) ? field(rigs.at(-1), 'id') : undefined).toBe('demo');
  });

  it('check says what is wrong, each part by itself, and never a key', async () => {
    expect((await place.run(['keys', 'create', '--app', 'default'])).code).toBe(0);
    configure(yaml);
    const { code, out, err } = await place.run(['check', '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      ok: false,
      checks: [
        { name: 'configuration', ok: true, message: join(place.directory, 'diptych.yaml') },
        { name: 'store', ok: true, message: place.database },
        { name: 'secrets', ok: true, message: expect.any(String) },
        { name: 'rig m1', ok: false, message: expect.any(String) },
        { name: 'rig demo', ok: true, message: expect.any(String) },
      ],
    });
    expect(out + err).not.toContain('hunter2');
  });

  it('check reports a damaged database, which can still be opened', async () => {
    await place.run(['keys', 'create', '--app', 'default']);
    const database = new SqliteDatabase(place.database);
    database.exec(`CREATE TABLE filling (bytes BLOB);
      INSERT INTO filling SELECT zeroblob(2000) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9))`);
    database.close();
    expect((await place.run(['check'])).code).toBe(0);
    const bytes = readFileSync(place.database);
    writeFileSync(place.database, bytes.fill(0xa5, bytes.length - 8192));
    const { code, out } = await place.run(['check']);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}store: the database .* is damaged: .*page/m);
  });

  it('check is content with the defaults', async () => {
    const { code, out } = await place.run(['check']);
    expect(code).toBe(0);
    expect(out).not.toContain('FAIL');
    expect(out).toContain(`store: ${place.database} does not exist yet`);
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it('check reports a missing database beside its key', async () => {
    mkdirSync(dirname(place.database), { recursive: true });
    writeFileSync(join(dirname(place.database), 'secrets.key'), 'a key');
    const { code, out } = await place.run(['check']);
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL {2}data: the database .* was empty or missing, but secrets.key exists/);
    expect(readdirSync(dirname(place.database))).toEqual(['secrets.key']);
  });

  it.each([
    ['an empty file', '', 'does not hold a key'],
    ['another text', 'a key', 'does not hold a key'],
  ])('check reports a key of secrets that the service cannot use: %s', async (_, text, message) => {
    expect((await place.run(['keys', 'create', '--app', 'default'])).code).toBe(0);
    expect((await place.run(['check'])).code).toBe(0);
    const key = join(dirname(place.database), 'secrets.key');
    writeFileSync(key, text);
    const { code, out } = await place.run(['check']);
    expect(out).toContain(`FAIL  secrets: ${key} ${message}`);
    expect(code).toBe(1);
    expect(readFileSync(key, 'utf8')).toBe(text);
  });

  it('check --ask sends a request to each model, and reports which does not support tools or does not exist', async () => {
    const models = createServer((request, response) => {
      const respond = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      };
      if (request.method === 'GET') {
        respond(200, { data: [{ id: 'llama3.2:latest' }] });
        return;
      }
      let body = '';
      request.on('data', (piece: Buffer) => (body += piece.toString()));
      request.on('end', () => {
        if (body.includes('"gemma2"')) respond(400, { error: { message: 'gemma2 does not support tools' } });
        else if (body.includes('"llama9"')) respond(404, { error: { message: 'model "llama9" not found' } });
        else {
          const chunk = { choices: [{ delta: { content: 'OK' }, finish_reason: 'stop' }] };
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
        }
      });
    });
    await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve));
    try {
      const address = models.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      const env = {
        OPENAI_BASE_URL: `http://127.0.0.1:${String(address.port)}/v1`,
        MODEL: 'llama3.2,gemma2,llama9',
      };
      const { code, out } = await place.run(['check', '--ask'], { env });
      expect(code).toBe(1);
      expect(out).toMatch(/ok +rig llama3\.2: answers a request\n/);
      expect(out).toMatch(
        /FAIL +rig gemma2: .*set `tools: false`.*\(HTTP 400: gemma2 does not support tools\)\n/,
      );
      expect(out).toMatch(
        /FAIL +rig llama9: .*no model of the name llama9; there are llama3\.2:latest \(HTTP 404/,
      );
      const free = await place.run(['check'], { env });
      expect(free.code).toBe(0);
      expect(free.out).toMatch(/ok +rig llama3\.2: answers\n/);
      expect(free.out).toMatch(
        /WARN +rig llama9: answers, but lists no model of the name llama9; there are llama3\.2:latest\n/,
      );
      const { checks } = JSON.parse((await place.run(['check', '--json'], { env })).out) as {
        checks: unknown;
      };
      expect(checks).toContainEqual(expect.objectContaining({ name: 'rig llama9', ok: true, warning: true }));
    } finally {
      models.close();
    }
  });

  it('check asks the nodes of chains which chain they are of, and Redis whether it is there', async () => {
    const node = createServer((req, res) => {
      req.resume().on('end', () => {
        res.setHeader('Content-Type', 'application/json');
        res.end(JSON.stringify({ jsonrpc: '2.0', id: 0, result: '0x5' }));
      });
    });
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
    const address = node.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const url = `http://127.0.0.1:${port}/hunter2`;
    const gone = 'http://127.0.0.1:1/hunter2';
    configure(`chains:
  - { id: 5, name: Five, rpcUrls: ['${url}'] }
  - { id: 6, name: Six, rpcUrls: ['${url}', '${gone}'] }
`);
    const REDIS_URL = 'redis://:hunter2@127.0.0.1:1';
    try {
      const { code, out, err } = await place.run(['check'], { env: { REDIS_URL } });
      expect(code).toBe(1);
      const lines = out.split('\n');
      expect(lines).toContain('ok    chain 5 (Five): answers');
      expect(lines).toContainEqual(
        expect.stringMatching(
          /^FAIL {2}chain 6 \(Six\): rpcUrls\[0\]: The node serves chain 5, not 6\. rpcUrls\[1\]: The node of Six /,
        ),
      );
      expect(lines).toContainEqual(expect.stringMatching(/^FAIL {2}redis: .*ECONNREFUSED/));
      expect(out + err).not.toContain('hunter2');
    } finally {
      await new Promise((resolve) => node.close(resolve));
    }
  });

  it('check reports a bad configuration and a store that cannot be opened', async () => {
    const bad = await place.run(['check'], { env: { PORT: 'x' } });
    expect(bad).toMatchObject({ code: 1, out: expect.stringContaining('FAIL  configuration: PORT: ') });
    writeFileSync(join(place.directory, 'file'), 'not a directory');
    const store = await place.run(['check'], { env: { DATABASE_URL: 'sqlite:./file/x.db' } });
    expect(store).toMatchObject({ code: 1, out: expect.stringContaining('FAIL  store: ') });
  });
});

describe('sessions and backup', () => {
  async function said(message: string): Promise<string> {
    const { url } = await place.serve();
    const answer = await fetch(
      `${url}/api/chat?public_key=0xAbCdefabcdefabcdefabcdefabcdefabcdefabcd&message=${message}`,
      {
        method: 'POST',
        headers: { 'X-Session-Id': SESSION, Prefer: 'wait=20' },
      },
    );
    expect(answer.status).toBe(200);
    return url;
  }

  it('are listed, shown, exported and deleted beside a running service', async () => {
    const url = await said('/tool%20get_time%20%7B%7D');
    expect(await json(['sessions', 'list'])).toEqual([
      expect.objectContaining({
        session_id: SESSION,
        public_key: '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd',
      }),
    ]);
    expect(
      await json(['sessions', 'list', '--wallet', '0xABCDEFabcdefabcdefabcdefabcdefabcdefabcd']),
    ).toHaveLength(1);
    expect(await json(['sessions', 'list', '--wallet', 'other'])).toEqual([]);

    const shown = await json(['sessions', 'show', SESSION.toUpperCase()]);
    expect(shown).toMatchObject({
      session_id: SESSION,
      has_more: false,
      messages: [
        { role: 'user' },
        { tool_calls: [{ name: 'get_time' }], tool_results: [{ name: 'get_time' }] },
        { role: 'assistant' },
      ],
    });
    expect(await json(['sessions', 'show', SESSION, '--limit', '1'])).toMatchObject({ has_more: true });

    const file = join(place.directory, 'export.json');
    const exported = await place.run(['sessions', 'export', SESSION, '--out', file]);
    expect(exported.code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      session_id: SESSION,
      messages: field(shown, 'messages'),
    });
    expect(await place.run(['sessions', 'export', SESSION, '--out', file])).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('export.json exists; an export never overwrites a file') },
    });

    expect(await json(['sessions', 'delete', SESSION])).toEqual({ session_id: SESSION, deleted: true });
    expect(await place.run(['sessions', 'delete', SESSION])).toMatchObject({
      code: 1,
      err: expect.stringContaining(SESSION),
    });
    let status = 200;
    while (status === 200) ({ status } = await fetch(`${url}/api/sessions/${SESSION}`));
    expect(status).toBe(404);
  });

  it('backup copies a database in use, and overwrites nothing', async () => {
    await said('Hello');
    const copy = join(place.directory, 'copy.db');
    expect(await json(['backup', copy])).toEqual({ file: copy });
    expect((await place.run(['backup', copy])).code).toBe(1);
    const second = await place.run(['backup', join(place.directory, 'second.db')]);
    expect(second.out).toMatch(
      /The copy is in .*second\.db\.\nIt does not include .*secrets\.key: copy that file/,
    );
    const nowhere = await place.run(['backup', join(place.directory, 'nowhere', 'copy.db')]);
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/cannot create .*: ENOENT/) });
    const { out } = await place.run([
      'sessions',
      'show',
      SESSION,
      '--json',
      '--database-url',
      `sqlite:${copy}`,
    ]);
    expect(JSON.parse(out)).toMatchObject({ messages: [{ content: 'Hello' }, { role: 'assistant' }] });
  });

  it.each([
    ['SIGTERM', 130, 'diptych: Interrupted: there is no copy.\n', []],
    ['SIGKILL', 'SIGKILL', '', [expect.stringMatching(PART)]],
  ] as const)('backup leaves no copy after %s', async (signal, code, err, left) => {
    await said('Hello');
    const database = new SqliteDatabase(place.database);
    database.exec('CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (zeroblob(200000000))');
    database.close();
    const folder = join(place.directory, 'copies');
    mkdirSync(folder);
    const begun = new Promise<string>((resolve) => {
      const watcher = watch(folder, (_, name) => {
        watcher.close();
        resolve(String(name));
      });
    });
    const running = place.start(CLI, ['backup', join(folder, 'copy.db')]);
    expect(await begun).toMatch(PART);
    running.child.kill(signal);
    expect(await running.ended).toBe(code);
    expect([running.out(), running.err()]).toEqual(['', err]);
    // SQLite's journal of the copy ends with the copy, unless it is killed.
    expect(readdirSync(folder).filter((name) => !name.endsWith('-journal'))).toEqual(left);
  });

  it.each([
    ['keys', 'list'],
    ['keys', 'revoke', 'abc'],
    ['sessions', 'list'],
    ['sessions', 'show', SESSION],
    ['secrets', 'list'],
    ['legacy', 'report'],
    ['backup', 'copy.db'],
  ])('%s %s needs a database, and creates none', async (...args) => {
    expect(await place.run(args)).toEqual({
      code: 1,
      out: '',
      err: `diptych: There is no database ${place.database}; see --database-url, or start the service first\n`,
    });
    expect(readdirSync(place.directory)).toEqual([]);
  });

  it.each([
    ['keys', 'list'],
    ['backup', 'copy.db'],
    ['migrate', '--from', 'sqlite:data/diptych.db', '--to', 'sqlite:copy.db'],
  ])('%s %s reports why a database cannot be opened', async (...args) => {
    // Stands for a folder that is closed to this user, who may be root.
    symlinkSync('data', join(place.directory, 'data'));
    const { code, out, err } = await place.run(args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('ELOOP: too many symbolic links encountered');
  });

  it('backup and migrate report the copy for which the disk has no room', async () => {
    expect((await place.run(['keys', 'create', '--app', 'default'])).code).toBe(0);
    const copy = join(place.directory, 'copy.db');
    const words = `cannot complete the copy ${copy},`;
    const backup = await place.runWithin(64, ['backup', copy]);
    expect(backup.err).toContain(`${words} so there is none: disk I/O error`);
    expect(backup.code).toBe(1);
    expect(readdirSync(place.directory)).toEqual(['data']);
    const target = ['--from', `sqlite:${place.database}`, '--to', `sqlite:${copy}`];
    const migrate = await place.runWithin(64, ['migrate', ...target]);
    expect(migrate.err).toContain(`${words} run the command again to continue: disk I/O error`);
    expect(migrate.code).toBe(1);
  });

  it('an export for which the disk has no room leaves no file', async () => {
    await said('Hello');
    const database = new SqliteDatabase(place.database);
    database.exec("UPDATE messages SET content = printf('%.*c', 100000, 'x')");
    // Otherwise the command could not append to the log of the database either.
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
    const out = join(place.directory, 'export.json');
    const { code, err } = await place.runWithin(64, ['sessions', 'export', SESSION, '--out', out]);
    expect(err).toContain(`diptych: cannot write ${out}, so there is no export: EFBIG`);
    expect(code).toBe(1);
    expect(readdirSync(place.directory)).toEqual(['data']);
  });

  it('each command reports lost data, because the service cannot any more', async () => {
    mkdirSync(dirname(place.database), { recursive: true });
    writeFileSync(place.database, '');
    writeFileSync(join(dirname(place.database), 'secrets.key'), 'a key');
    const { code, err } = await place.run(['keys', 'list']);
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: the database .* was empty or missing, but secrets.key exists beside it/);
  });

  it('need a database that outlives the process', async () => {
    const { code, err } = await place.run(['sessions', 'list', '--database-url', 'sqlite::memory:']);
    expect(code).toBe(1);
    expect(err).toMatch(/^diptych: .*\n$/);
  });
});
