import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RunningCore } from '../../src/core/create-core.js';
import type { Rig } from '../../src/core/ports/rig.js';
import { NO_USAGE } from '../../src/core/model/turn.js';
import type { Method, Route } from '../../src/http/routing/route.js';
import { createStreams } from '../../src/http/sse/streams.js';
import { listMounts } from '../../src/surfaces/index.js';
import { keptLog, testApp, testCore, type TestCore } from '../support/core.js';
import { fakeCore } from '../support/fake-core.js';
import { openStore, serveCore, TEST_HTTP, type TestServer } from '../support/http.js';
import { grantKey } from '../support/keys.js';
import { getTime } from '../support/tools.js';

const CLIENT = 'client-of-16-char';

/** What makes a request good but for its App and key; `app` can go where it says. */
interface Sample {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly app?: readonly ('query' | 'body')[];
}

const message = { query: { message: 'hi' } };
const client = { query: { client_id: 'a-client-of-nothing' } };
/** A row for every route of every surface: one without a row fails the test. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  'POST /api/sessions': {},
  'GET /api/sessions': { query: { public_key: 'w' } },
  'GET /api/sessions/:id': {},
  'PATCH /api/sessions/:id': { body: { title: 't' } },
  'DELETE /api/sessions/:id': {},
  'GET /api/sessions/:id/messages': {},
  'POST /api/sessions/:id/branch': {},
  'POST /api/sessions/:id/archive': {},
  'POST /api/sessions/:id/unarchive': {},
  'POST /api/chat': { ...message, app: ['query', 'body'] },
  'GET /api/state': {},
  'POST /api/interrupt': {},
  'GET /api/updates': {},
  'GET /api/events': {},
  'POST /api/control/model': { query: { rig: 'plain' }, body: { model: 'plain' }, app: ['query', 'body'] },
  'GET /api/control/models': { app: ['query'] },
  'GET /api/control/apps': {},
  'POST /api/tools': { body: { name: 'get_time' }, app: ['query', 'body'] },
  'GET /api/tools': { app: ['query'] },
  'POST /api/secrets': { body: { client_id: CLIENT, secrets: { A: 'v' } }, app: ['query', 'body'] },
  'GET /api/secrets': client,
  'DELETE /api/secrets': client,
  'DELETE /api/secrets/:name': client,
  'GET /api/control/provider-keys': client,
  'POST /api/control/provider-keys': {
    body: { client_id: CLIENT, provider: 'openai', api_key: 'sk-of-this-matrix' },
  },
  'DELETE /api/control/provider-keys/:provider': client,
  'GET /api/wallet/nonce': {},
  'POST /api/wallet/proof': { body: { message: 'm', signature: '0x' } },
  'POST /api/system': message,
  'POST /api/simulate': { body: { transactions: [{ to: '0x' }] } },
  'GET /api/health': {},
  'GET /health': {},
  'GET /api/account': {},
  'GET /api/settings/account': {},
  'POST /api/thread/chat': { body: { text: 'hi' }, app: ['query'] },
  'GET /api/thread/state': {},
  'POST /api/thread/interrupt': {},
  'GET /api/thread/updates': {},
  'POST /api/control/:action': { body: { model: 'plain' } },
  'GET /api/session/models': {},
  'GET /api/session/apps': {},
};

/**
 * They take the name of an App and need no key for it: they show and remove what a client has stored, whose id they
 * need.
 */
const CAPABILITIES = ['DELETE /api/secrets', 'DELETE /api/secrets/:name'];

const APPS = ['default', 'vault', 'nowhere'] as const;
const KEYS = ['none', 'malformed', 'unknown', 'revoked', 'expired', 'other', 'valid'] as const;
type KeyState = (typeof KEYS)[number];

/** The rules of App keys, and that a holder of some key cannot probe for names. */
function expected(app: (typeof APPS)[number], key: KeyState): number {
  if (app === 'default') return 200;
  if (key === 'valid') return app === 'vault' ? 200 : 403;
  return key === 'other' ? 403 : 401;
}

const SURFACES = ['current', 'legacy', 'field'] as const;
const mounts = listMounts(
  {
    core: fakeCore({}),
    streams: createStreams(TEST_HTTP),
    about: { version: '', surfaces: [] },
  },
  SURFACES,
);
const routes = mounts.flatMap(({ base, routes: of }) => of.map((route) => ({ base, route })));
const targeting = routes.filter(({ route }) => route.targetsApp);

/** A rig that answers at once, so that streams end. */
const plain: Rig = {
  ...{ id: 'plain', name: 'Plain', provider: 'test', contextTokens: 1000 },
  respond(_request, _signal, take) {
    take({ type: 'text', text: 'hi' });
    take({ type: 'end', usage: NO_USAGE });
    return Promise.resolve();
  },
  attachedTokens: () => 0,
  check: () => Promise.resolve(undefined),
};

let parts: TestCore;
let server: TestServer;
let keys: Record<KeyState, string>;
/** What the core was asked, one line for each call. */
const calls: string[] = [];

beforeAll(async () => {
  const apps = [
    testApp(),
    testApp({ name: 'vault', instructions: 'vault-words' }),
    testApp({ name: 'other' }),
  ];
  parts = testCore({ rigs: [plain], apps, tools: [getTime], store: await openStore('sqlite') });
  server = await serveCore(recorded(parts.core), { surfaces: SURFACES, log: keptLog() });
  const grant = (names: readonly string[], fields = {}) => grantKey(parts.store, names, fields);
  keys = {
    none: '',
    malformed: 'sk-app-short',
    unknown: `sk-app-${'x'.repeat(43)}`,
    revoked: await grant(['vault', 'nowhere'], { revokedAt: 1 }),
    expired: await grant(['vault', 'nowhere'], { expiresAt: 1 }),
    other: await grant(['other']),
    // Also for an App that is not configured: it opens nothing.
    valid: await grant(['vault', 'nowhere']),
  };
});
afterAll(async () => {
  await server.close();
  await parts.core.close();
  await parts.store.close();
});

/** The core, with each call noted before it is made. */
function recorded(core: RunningCore): RunningCore {
  return new Proxy(core, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...args: readonly unknown[]): unknown => {
        calls.push(`${String(name)} ${JSON.stringify(args)}`);
        const result: unknown = Reflect.apply(member, target, args);
        return result;
      };
    },
  });
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const ownHeader = (route: Route): string =>
  route.dialect.name === 'legacy' ? 'X-API-Key' : 'SERVICE-APP-KEY';
const otherHeader = (route: Route): string =>
  route.dialect.name === 'legacy' ? 'SERVICE-APP-KEY' : 'X-API-Key';
/** The field surface takes the key from both headers. */
const hasOneHeader = (route: Route): boolean => route.dialect.name !== 'field';

/** Sends the route's sample; resolves with the status, and with the body unless it is a stream that goes on. */
async function send(
  { base, route }: { readonly base: string; readonly route: Route },
  options: { app?: string; place?: 'query' | 'body'; headers?: Record<string, string>; session?: string },
): Promise<{ status: number; text: string }> {
  const { app, place = 'query', headers = {}, session = randomUUID() } = options;
  const sample = SAMPLES[nameOf(route)] ?? {};
  const query = new URLSearchParams({ ...sample.query, session_id: session });
  if (app !== undefined && place === 'query') query.set('app', app);
  const fields = { ...sample.body, ...(app !== undefined && place === 'body' ? { app } : {}) };
  const hasBody = (['POST', 'PATCH', 'DELETE'] as readonly Method[]).includes(route.method);
  const path = route.path.replace(':id', session).replace(':name', 'A').replace(':action', 'model');
  const gone = new AbortController();
  const response = await fetch(`${server.url}${base}${path}?${query.toString()}`, {
    method: route.method,
    headers: { 'X-Session-Id': session, ...headers },
    ...(hasBody && { body: JSON.stringify(fields) }),
    signal: gone.signal,
  });
  const goesOn = route.path.endsWith('/updates') && response.status === 200;
  const text = goesOn ? '' : await response.text();
  gone.abort();
  return { status: response.status, text };
}

it('has a row for every route, says of each that targets an App where the App goes, and has no row too many', () => {
  const names = [...new Set(routes.map(({ route }) => nameOf(route)))];
  expect(names.filter((name) => !Object.hasOwn(SAMPLES, name))).toEqual([]);
  expect(Object.keys(SAMPLES).filter((name) => !names.includes(name))).toEqual([]);
  const silent = targeting.filter(({ route }) => SAMPLES[nameOf(route)]?.app === undefined);
  expect(silent.map(({ route }) => nameOf(route))).toEqual([]);
  expect(mounts.map(({ base }) => base)).toEqual(['', '/current', '/legacy', '/field']);
  expect(targeting.length).toBeGreaterThan(12);
});

describe.each(targeting.map((one) => [`${one.base} ${nameOf(one.route)}`, one] as const))(
  '%s',
  (_name, one) => {
    const places = SAMPLES[nameOf(one.route)]?.app ?? [];

    it.each(places)('with the App in the %s: 401, 403 or 200, as the key and the App are', async (place) => {
      const answers: Record<string, number> = {};
      const right: Record<string, number> = {};
      for (const app of APPS) {
        for (const state of KEYS) {
          const headers: Record<string, string> =
            state === 'none' ? {} : { [ownHeader(one.route)]: keys[state] };
          answers[`${app} ${state}`] = (await send(one, { app, place, headers })).status;
          right[`${app} ${state}`] = expected(app, state);
        }
      }
      expect(answers).toEqual(right);
    });

    it('is not opened by the header of the other surface, beside none or beside a bad one', async () => {
      if (!hasOneHeader(one.route)) {
        const other = { [otherHeader(one.route)]: keys.valid };
        expect((await send(one, { app: 'vault', headers: other })).status).toBe(200);
        expect(
          (await send(one, { app: 'vault', headers: { ...other, [ownHeader(one.route)]: keys.unknown } }))
            .status,
        ).toBe(401);
        return;
      }
      for (const state of KEYS) {
        const wrong = { [otherHeader(one.route)]: keys[state] };
        expect([state, (await send(one, { app: 'vault', headers: wrong })).status]).toEqual([state, 401]);
        const both = { ...wrong, [ownHeader(one.route)]: keys.unknown };
        expect([state, (await send(one, { app: 'vault', headers: both })).status]).toEqual([state, 401]);
        expect([state, (await send(one, { app: 'default', headers: wrong })).status]).toEqual([state, 200]);
      }
      // Nor closed by it.
      const open = { [ownHeader(one.route)]: keys.valid, [otherHeader(one.route)]: keys.revoked };
      expect((await send(one, { app: 'vault', headers: open })).status).toBe(200);
    });

    it('names its header when the key is missing', async () => {
      const { text } = await send(one, { app: 'vault' });
      expect(text.toLowerCase()).toContain(
        `none was sent: send it as ${ownHeader(one.route).toLowerCase()}"`,
      );
    });

    it('is for default without the name of an App', async () => {
      expect((await send(one, {})).status).toBe(200);
    });

    it.each(['Vault', ' vault', 'vault ', 'VAULT', 'vault\0', 'Default', '__proto__', 'constructor'])(
      'takes %j for no App that there is',
      async (app) => {
        const headers = { [ownHeader(one.route)]: keys.valid };
        expect((await send(one, { app, headers })).status).toBe(403);
        expect((await send(one, { app })).status).toBe(401);
      },
    );

    it('refuses an App that is not covered exactly like one that does not exist', async () => {
      const headers = { [ownHeader(one.route)]: keys.other, 'X-Request-Id': 'same' };
      const covered = await send(one, { app: 'vault', headers });
      const unknown = await send(one, { app: 'valut', headers });
      expect(unknown.text.replaceAll('valut', 'vault')).toBe(covered.text);
    });
  },
);

describe('a route that targets no App', () => {
  const others = routes.filter(({ route }) => !route.targetsApp);

  it.each(others.map((one) => [`${one.base} ${nameOf(one.route)}`, one] as const))(
    '%s: does not look at the name of one',
    async (_name, one) => {
      const session = randomUUID();
      await parts.core.createSession({ sessionId: session });
      for (const place of ['query', 'body'] as const) {
        calls.length = 0;
        const { text } = await send(one, { app: 'vault', place, session });
        const asked = calls.filter((call) => call.includes('vault'));
        if (CAPABILITIES.includes(nameOf(one.route)))
          expect(asked.every((call) => call.startsWith('deleteSecrets'))).toBe(true);
        else expect(asked).toEqual([]);
        expect(text).not.toContain('vault');
      }
    },
  );

  it('is recognized by this test: a route that targets an App requests it from the core', async () => {
    for (const one of targeting) {
      calls.length = 0;
      await send(one, { app: 'vault' });
      expect([nameOf(one.route), calls.some((call) => call.includes('vault'))]).toEqual([
        nameOf(one.route),
        true,
      ]);
    }
  });

  it('removes, by its capability, only what its own client has stored', async () => {
    const headers = { 'SERVICE-APP-KEY': keys.valid };
    const body = { client_id: 'a-client-of-its-own', app: 'vault', secrets: { A: 'v' } };
    await server.ask('POST', '/api/secrets', { headers, body });
    for (const path of ['/api/secrets', '/api/secrets/A']) {
      await server.ask('DELETE', `${path}?client_id=${CLIENT}&app=vault`, { headers });
    }
    const { json } = await server.ask('GET', '/api/secrets?client_id=a-client-of-its-own');
    expect(json).toEqual({ by_app: { vault: ['A'] } });
  });

  it.each([
    ['GET /api/control/apps', 'SERVICE-APP-KEY', 200],
    ['GET /api/session/apps', 'X-API-Key', 401],
  ] as const)('%s: lists by the key of its own header', async (name, header, withoutKey) => {
    for (const one of others.filter(({ route }) => nameOf(route) === name)) {
      const status = async (headers: Record<string, string>) => {
        const { status: code, text } = await send(one, { headers });
        return [code, text.includes('vault')];
      };
      const other = otherHeader(one.route);
      expect(await status({})).toEqual([withoutKey, false]);
      if (hasOneHeader(one.route)) expect(await status({ [other]: keys.valid })).toEqual([withoutKey, false]);
      expect(await status({ [header]: keys.valid })).toEqual([200, true]);
      expect(await status({ [header]: keys.other })).toEqual([200, false]);
      for (const state of ['malformed', 'unknown', 'revoked', 'expired'] as const) {
        expect([state, ...(await status({ [header]: keys[state] }))]).toEqual([state, 401, false]);
      }
    }
  });
});

it('two Apps in one request are refused', async () => {
  const session = randomUUID();
  const twice = await server.ask('POST', '/api/chat?message=hi&app=default&app=vault', { session });
  expect(twice.status).toBe(400);
  const headers = { 'SERVICE-APP-KEY': keys.valid };
  // The query goes before the body, for the decision as for the deed.
  const both = await server.ask('POST', '/api/chat?message=hi&app=vault', {
    session,
    body: { app: 'default' },
  });
  expect(both.status).toBe(401);
  await server.ask('POST', '/api/chat?message=hi&app=default', { session, headers, body: { app: 'vault' } });
  expect(await parts.store.loadThread(session)).toMatchObject({ session: { app: 'default' } });
});
