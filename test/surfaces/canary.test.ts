import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { createModelRig } from '../../src/adapters/models/create-rig.js';
import type { ToolContext, Tool } from '../../src/core/ports/tool.js';
import { testApp } from '../support/core.js';
import { withFolder } from '../support/folder.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { grantKey } from '../support/keys.js';
import { sendRaw } from '../support/raw.js';
import { startCollector } from '../support/otlp.js';
import { listOf } from '../support/snapshot.js';
import { openTestSqlite } from '../support/sqlite.js';
import type { OpenStream } from '../support/sse.js';
import { getTime } from '../support/tools.js';
import {
  endChunk,
  sayScript,
  startUpstream,
  textChunk,
  toolChunk,
  type Reply,
  type Upstream,
  type UpstreamRequest,
} from '../support/upstream.js';

const CLIENT = 'client-canary-5f1d0c';
const SECRETS = {
  TOKEN: 'canary-token-Zx81/+?&"quoted"\\é',
  PIN: '90731846',
  SHORT: 'qZ7',
};

/** The client's own key for the provider, with characters that encodings change. */
const OWN_KEY = 'sk-own-canary-Zx81+/?&"q"\\e';

/** Everything that it was lent, in every place where a tool can say something. */
function gossip(context: ToolContext): string {
  const all = [...context.secrets.values()];
  for (const value of all) context.progress(`trying ${value} now`);
  return all.join(' and ');
}

const tools: readonly Tool[] = [
  {
    ...getTime,
    name: 'echo',
    run(_, context) {
      const said = gossip(context);
      const named = Object.fromEntries(
        [...context.secrets.values()].map((value) => [`key ${value}`, [{ value }]]),
      );
      const encoded = Buffer.from(SECRETS.TOKEN);
      return Promise.resolve({
        ...{ said, named, pin: Number(context.secrets.get('PIN')), json: JSON.stringify(named) },
        base64: encoded.toString('base64'),
        url: `https://vendor.example/?key=${encodeURIComponent(SECRETS.TOKEN)}&pin=${SECRETS.PIN}`,
        hex: encoded.toString('hex'),
      });
    },
  },
  {
    ...getTime,
    name: 'fail',
    run(_, context) {
      const cause = new Error(`inner ${SECRETS.TOKEN}`);
      return Promise.reject(Object.assign(new Error(gossip(context), { cause }), { code: SECRETS.TOKEN }));
    },
  },
  {
    ...getTime,
    name: 'hang',
    timeoutMs: 30,
    run(_, context) {
      gossip(context);
      return new Promise(() => undefined);
    },
  },
];

/** A model that calls every tool once, then says again all that it was sent, its key too. */
function model(reply: Reply, request: UpstreamRequest): void | Promise<void> {
  const { messages, tools: offered } = objectOf(request.body);
  if (offered === undefined) return sayScript('A title of all this')(reply, request);
  reply.open();
  if (objectOf(listOf(messages).at(-1)).role === 'tool') {
    reply.event(textChunk(`I was told ${JSON.stringify(messages)}`));
    for (const piece of [' by ', OWN_KEY.slice(0, 5), OWN_KEY.slice(5)]) reply.event(textChunk(piece));
    reply.event(endChunk());
  } else {
    ['echo', 'fail', 'hang'].forEach((name, index) => {
      reply.event(toolChunk(index, { id: `${name}-${OWN_KEY}-${randomUUID()}`, name, arguments: '{}' }));
    });
    reply.event(endChunk('tool_calls'));
  }
  reply.event('[DONE]');
}

/** How a planted value could be written down. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const forms = [value, json, JSON.stringify(json).slice(1, -1)];
  if (value.length < 8) return forms;
  const encoded = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  return [...forms, ...encoded, encodeURIComponent(value)];
}

it('no secret, client or App key is in any answer, event, log line, prompt, metric, trace, or byte of the database', () =>
  withFolder(async (folder) => {
    const upstream = await startUpstream();
    upstream.always(model);
    const collector = await startCollector();
    const store = await openTestSqlite({ path: join(folder, 'canary.db') });
    const house = await openHouse({
      store,
      keys: [randomBytes(32)],
      ...{ metrics: { token: null }, collector: collector.url },
      tools,
      rigs: [
        createModelRig({
          ...{ id: 'm', name: 'M', provider: 'openai-compatible', model: 'm', contextTokens: 100_000 },
          ...{ baseUrl: `${upstream.url}/v1`, apiKey: 'sk-upstream-canary' },
        }),
      ],
      apps: [
        testApp(),
        testApp({ name: 'vault', secrets: [{ name: 'TOKEN', description: 'Token', required: true }] }),
      ],
    });
    try {
      const key = await grantKey(store, ['vault']);
      const { streams, sessions } = await converse(house, upstream, key);
      const places: Record<string, string> = {
        answers: house.answers.join('\n'),
        streams: streams.map(({ bytes }) => bytes).join('\n'),
        log: house.log(),
        metrics: (await house.ask('GET', '/metrics')).text,
        upstream: JSON.stringify(
          upstream.requests.map(({ path, body, headers: { authorization, ...headers } }) => ({
            ...{ path, body, headers },
            isOwn: authorization === `Bearer ${OWN_KEY}`,
          })),
        ),
      };
      for (const file of readdirSync(folder))
        places[`open ${file}`] = readFileSync(join(folder, file)).toString('latin1');
      for (const stream of streams) stream.close();
      await house.close();
      await store.close();
      Object.assign(places, { traces: collector.bytes(), spans: JSON.stringify(collector.spans) });
      for (const file of readdirSync(folder))
        places[`closed ${file}`] = readFileSync(join(folder, file)).toString('latin1');

      // The tools did run, and what they said went everywhere.
      for (const place of ['answers', 'streams', 'upstream', 'closed canary.db', 'open canary.db-wal']) {
        for (const name of ['TOKEN', 'PIN', 'SHORT'])
          expect([place, places[place]?.includes(`$SECRET:${name}`)]).toEqual([place, true]);
      }
      expect(places.upstream).toContain('"isOwn":true');
      expect(places.answers).toContain('by $PROVIDER_KEY');
      expect(places.log).toContain('tool failed');
      for (const tool of ['echo', 'fail', 'hang']) {
        expect(places.metrics).toContain(`tool="${tool}"`);
        expect(places.spans).toContain(`execute_tool ${tool}`);
      }

      const planted = { ...SECRETS, CLIENT, OWN_KEY, KEY: key };
      const found = Object.entries(places).flatMap(([place, bytes]) =>
        Object.entries(planted).flatMap(([name, value]) =>
          formsOf(value)
            .flatMap((form) => [form, Buffer.from(form).toString('latin1')])
            // Three letters come by chance in encrypted bytes and random ids; there they must stand as a word.
            .filter((form) =>
              form.length > 3
                ? bytes.includes(form)
                : place !== 'traces' && new RegExp(`\\b${form}\\b`).test(bytes),
            )
            .map((form) => `${name} as ${form} in ${place}`),
        ),
      );
      expect(found).toEqual([]);
      // Nor what was said, nor what opens a session.
      for (const place of ['metrics', 'traces', 'spans']) {
        for (const said of [...sessions, 'use them', 'I was told', 'sk-upstream-canary', upstream.url])
          expect([place, said, places[place]?.includes(said)]).toEqual([place, said, false]);
      }
      const logged = [places.answers, places.streams, places.log].join('\n');
      expect(logged).not.toContain('sk-upstream-canary');
    } finally {
      await house.close();
      await store.close();
      await upstream.close();
      await collector.close();
    }
  }));

/**
 * Talks on both surfaces, calls tools, stores, lists, fails in many ways. Resolves with the streams, still open, and
 * the sessions.
 */
async function converse(
  house: House,
  upstream: Upstream,
  key: string,
): Promise<{ readonly streams: readonly OpenStream[]; readonly sessions: readonly string[] }> {
  const [current, legacy, bound] = [randomUUID(), randomUUID(), randomUUID()];
  const headers = { 'SERVICE-APP-KEY': key, 'X-API-Key': key };
  const keep = (body: object, session?: string) =>
    house.ask('POST', '/api/secrets', {
      headers,
      body: { client_id: CLIENT, ...body },
      ...(session !== undefined && { session }),
    });
  for (const app of ['default', 'vault']) expect((await keep({ app, secrets: SECRETS })).status).toBe(200);
  await keep({ app: 'vault', secrets: SECRETS }, bound);

  const keyPath = '/api/control/provider-keys';
  const ownKey = { client_id: CLIENT, provider: 'openai-compatible', api_key: OWN_KEY };
  expect((await house.ask('POST', keyPath, { body: ownKey })).status).toBe(200);

  const streams = await Promise.all([
    house.watch('/api/updates?include=turns', current),
    house.watch('/api/updates', bound),
    house.watch('/api/thread/updates', legacy),
  ]);
  const query = `app=vault&client_id=${CLIENT}`;
  const wait = { ...headers, Prefer: 'wait=60' };
  const turn = await house.ask('POST', `/api/chat?message=use%20them&${query}`, {
    session: current,
    headers: wait,
  });
  expect(turn.text).toContain('I was told');
  const chat = await house.watch(`/api/thread/chat?${query}`, legacy, {
    ...{ method: 'POST', headers, body: JSON.stringify({ text: 'use them' }) },
  });
  streams.push(chat);
  expect(await chat.end()).toContain('"type":"complete"');
  for (const name of ['echo', 'fail', 'hang']) {
    for (const app of ['default', 'vault']) {
      const body = { name, app, client_id: CLIENT };
      expect((await house.ask('POST', '/api/tools', { session: bound, headers, body })).status).toBe(200);
    }
  }
  const sessions = [current, legacy, bound];
  for (const session of sessions) {
    await house.ask('GET', `/api/state?client_id=${CLIENT}`, { session });
    await house.ask('GET', `/api/thread/state?session_id=${session}&client_id=${CLIENT}`);
    await house.ask('GET', `/api/sessions/${session}/messages`);
    await house.ask('GET', `/api/events?client_id=${CLIENT}`, { session, headers });
    await house.ask('POST', '/api/interrupt', { session, headers });
  }
  await house.ask('GET', `/api/secrets?client_id=${CLIENT}`, { session: bound });
  await house.ask('GET', '/api/control/apps', { session: bound, headers });
  await house.ask('GET', '/api/session/apps', { headers });

  // What goes wrong may say what was wrong, and not with what.
  await keep({ app: 'vault', secrets: { TOKEN: [SECRETS.TOKEN] } });
  await keep({ app: 'nowhere', secrets: SECRETS });
  await keep({ secrets: SECRETS.TOKEN });
  await keep({ client_id: [CLIENT], secrets: SECRETS });
  await house.ask('POST', '/api/secrets', {
    headers,
    body: `{"client_id":"${CLIENT}","secrets":{"A":"${SECRETS.PIN}`,
  });
  await house.ask('PATCH', `/api/secrets?client_id=${CLIENT}`, { headers });
  await house.ask('GET', `/api/nothing?client_id=${CLIENT}`, { headers });
  await house.ask('GET', `/api/state?client_id=${CLIENT}`, { headers });
  await house.ask('POST', `/api/chat?${query}`, { session: current, headers });
  await house.ask('POST', `/api/chat?message=hi&app=vault&client_id=${CLIENT}x`, {
    session: current,
    headers,
  });
  await house.ask('POST', `/api/chat?message=hi&app=vault`, {
    session: current,
    headers: { 'SERVICE-APP-KEY': `${key}x` },
  });
  await house.ask('POST', '/api/tools', {
    session: bound,
    headers,
    body: { name: 'echo', args: { mnemonic: SECRETS.TOKEN } },
  });
  await house.ask('DELETE', `/api/secrets/%ff?client_id=${CLIENT}`, { headers });
  await house.ask('GET', `${keyPath}?client_id=${CLIENT}`, { session: bound });
  for (const over of [{ provider: OWN_KEY }, { api_key: [OWN_KEY] }, { api_key: `${OWN_KEY}\n` + OWN_KEY }])
    expect((await house.ask('POST', keyPath, { body: { ...ownKey, ...over } })).status).toBe(400);
  await house.ask('POST', `${keyPath}?api_key=${encodeURIComponent(OWN_KEY)}`, {
    body: { client_id: CLIENT },
  });
  const raw = await sendRaw(
    house.url,
    `GET /api/state?client_id=${CLIENT} HTTP/9.9\r\nX-API-Key: ${key}\r\n\r\n`,
  );
  expect(raw).toContain('505');
  expect(raw).not.toContain(CLIENT);
  // Turns that fail, with the key of the client and with the configured one.
  for (const [asked, bad] of [
    [query, OWN_KEY],
    ['app=default', 'sk-upstream-canary'],
  ] as const) {
    upstream.next((reply) => {
      reply.json(401, { error: { message: `your key ${bad} is bad`, code: bad } }, { 'x-request-id': bad });
    });
    const failed = await house.ask('POST', `/api/chat?message=again&${asked}`, {
      ...{ session: asked === query ? current : legacy, headers: wait },
    });
    expect(failed.text).toContain('SystemError');
  }
  const toolCalls = (stream: OpenStream | undefined, count: number) =>
    stream?.until(({ bytes }) => bytes.split('"tool_complete"').length > count);
  await toolCalls(streams[0], 3);
  await toolCalls(streams[1], 6);
  await toolCalls(streams[2], 3);
  await house.ask('DELETE', `/api/secrets/PIN?client_id=${CLIENT}&app=vault`);
  return { streams, sessions };
}
