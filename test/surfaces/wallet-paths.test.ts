import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Core } from '../../src/core/api.js';
import { RefusedError } from '../../src/core/model/refusal.js';
import { newSession } from '../../src/core/model/session.js';
import type { SimulationReport, SimulationRequest } from '../../src/core/model/simulation.js';
import type { PendingRequest } from '../../src/core/model/wallet-request.js';
import { keptLog } from '../support/core.js';
import { fakeCore, fakeSnapshot } from '../support/fake-core.js';
import { objectOf } from '../support/house.js';
import { serveCore, type Answer, type TestServer } from '../support/http.js';

const TO = `0x${'aB'.repeat(20)}`;
const MOST = String(2n ** 256n - 1n);

let server: TestServer;
let session: string;
let log: ReturnType<typeof keptLog>;

beforeEach(() => {
  session = randomUUID();
  log = keptLog();
});
afterEach(() => server.close());

async function serve(methods: Partial<Core>): Promise<void> {
  server = await serveCore(fakeCore(methods), { log });
}

const post = (path: string, body?: unknown): Promise<Answer> =>
  server.ask('POST', path, { session, ...(body !== undefined && { body }) });

/** A body, and the paths of what is wrong with it. */
type Refused = readonly [body: object, paths: readonly string[]];

/** The paths of a refusal. */
function pathsOf({ json }: Answer): readonly unknown[] {
  const { details } = objectOf(json);
  return Array.isArray(details) ? details.map((problem) => objectOf(problem).path) : [];
}

describe('POST /api/system', () => {
  const report = jest.fn<Core['report']>((_, content) => Promise.resolve({ content, at: 0 }));
  const res = (content: string) => ({
    res: {
      ...{ sender: 'system', content, timestamp: '1970-01-01T00:00:00.000Z' },
      ...{ is_streaming: false, tool_result: null },
    },
  });
  beforeEach(() => {
    report.mockClear();
    return serve({ report });
  });

  it.each(['', '/current'])('takes the message of the query, else of the body, under "%s"', async (base) => {
    const ref = { id: session, ifUnknown: 'create' };
    const fromQuery = await post(`${base}/api/system?message=a`, { message: 'b' });
    expect([fromQuery.status, fromQuery.text]).toEqual([200, JSON.stringify(res('a'))]);
    const text = '{"type":"wallet:tx_complete","payload":{}}';
    const fromBody = await post(`${base}/api/system`, { message: text });
    expect([fromBody.status, fromBody.json]).toEqual([200, res(text)]);
    expect(report.mock.calls).toEqual([
      [ref, 'a'],
      [ref, text],
    ]);
  });

  it.each([
    ['no message', '', undefined],
    ['a blank one', '?message=+', undefined],
    ['two', '?message=a&message=b', undefined],
    ['an object', '', { message: { type: 'x', payload: {} } }],
    ['a number', '', { message: 1 }],
    ['null', '', { message: null }],
    ['a body that is no object', '', '[]'],
    ['a body that is no JSON', '', '{'],
  ])('refuses %s', async (_, query, body) => {
    const answer = await post(`/api/system${query}`, body);
    expect([answer.status, objectOf(answer.json).code]).toEqual([400, 'invalid']);
    expect(report).not.toHaveBeenCalled();
  });

  it('requires the header, and refuses other methods', async () => {
    const without = await server.ask('POST', '/api/system?message=a');
    expect([without.status, pathsOf(without)]).toEqual([400, ['X-Session-Id']]);
    const got = await server.ask('GET', '/api/system?message=a', { session });
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect((await post('/legacy/api/system?message=a')).status).toBe(404);
    expect(report).not.toHaveBeenCalled();
  });
});

describe('POST /api/simulate', () => {
  const outcome: SimulationReport = {
    ...{ succeeded: false, stateful: false, from: TO.toLowerCase(), chain: { id: 1, name: 'Ethereum' } },
    ...{ totalGas: null, fee: null },
    steps: [
      {
        ...{ label: 'Pay', success: true, result: '0x01', revertReason: null, gasUsed: '21000' },
        ...{ to: '0x00', value: '1', valueInUnits: '0.000000000000000001', data: '0x' },
      },
      {
        ...{ label: 'Step 2', success: false, result: null, revertReason: 'no funds', gasUsed: null },
        ...{ to: '0x01', value: MOST, valueInUnits: '1', data: '0xab' },
      },
    ],
  };
  const simulate = jest.fn<Core['simulate']>();
  const touch = jest.fn<Core['touch']>(() => Promise.resolve());
  beforeEach(() => {
    simulate.mockReset().mockResolvedValue(outcome);
    touch.mockClear();
    return serve({ simulate, touch });
  });

  it('answers with the documented fields, and leaves out what is not known', async () => {
    const answer = await post('/api/simulate', { transactions: [{ to: TO }] });
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        result: {
          ...{ batch_success: false, stateful: false, from: TO.toLowerCase(), network: 'Ethereum' },
          steps: [
            {
              ...{ step: 1, label: 'Pay', success: true, result: '0x01', gas_used: 21000 },
              tx: { to: '0x00', value_wei: '1', value_eth: '0.000000000000000001', data: '0x' },
            },
            {
              ...{ step: 2, label: 'Step 2', success: false, revert_reason: 'no funds' },
              tx: { to: '0x01', value_wei: MOST, value_eth: '1', data: '0xab' },
            },
          ],
        },
      },
    ]);
    expect(touch).toHaveBeenCalledWith({ id: session, ifUnknown: 'create' });
    simulate.mockResolvedValue({
      ...outcome,
      totalGas: '42000',
      fee: { recipient: '0x02', amountWei: MOST },
    });
    const { json } = await post('/current/api/simulate', { transactions: [{ to: TO }] });
    expect(json).toMatchObject({
      result: { total_gas: 42000, fee: { recipient: '0x02', amount_wei: MOST, token: 'native' } },
    });
  });

  it('gives the core exact values', async () => {
    const asked = async (body: object): Promise<SimulationRequest | undefined> => {
      simulate.mockClear();
      const { status } = await post('/api/simulate', body);
      expect([body, status]).toEqual([body, 200]);
      return simulate.mock.calls[0]?.[0];
    };
    const plain = { to: TO, value: '0', data: '0x', label: undefined };
    expect(await asked({ transactions: [{ to: TO }] })).toEqual({
      ...{ sessionId: session, transactions: [plain], from: undefined, chainId: undefined },
    });
    const values = ['0', '007', MOST, `0x${'F'.repeat(64)}`, '0xA', 2 ** 53 - 1, 0, null];
    const transactions = values.map((value) => ({ to: TO, value, data: null, label: null, extra: {} }));
    expect(await asked({ transactions, from: 'me.eth' })).toMatchObject({
      transactions: ['0', '7', MOST, MOST, '10', '9007199254740991', '0', '0'].map((value) => ({
        ...plain,
        value,
      })),
      from: 'me.eth',
    });
    const data = `0x${'Ab'.repeat(131_072)}`;
    expect(await asked({ transactions: [{ to: TO, data, label: '🦜'.repeat(200) }] })).toMatchObject({
      transactions: [{ data: data.toLowerCase(), label: '🦜'.repeat(200) }],
    });
  });

  it.each([
    [{ chain_id: 10 }, {}, 10],
    [{ chain_id: '10' }, {}, 10],
    [{ chain_id: '0xA' }, {}, 10],
    [{ chain_id: null }, {}, undefined],
    [{}, { chain_id: '10' }, 10],
    [{ chain_id: 10 }, { chain_id: '0xa' }, 10],
  ])('takes the chain of the batch or of its transactions: %j %j', async (batch, own, chainId) => {
    const transactions = [{ to: TO }, { to: TO, ...own }, { to: TO, chain_id: null }];
    expect((await post('/api/simulate', { transactions, ...batch })).status).toBe(200);
    expect(simulate.mock.calls[0]?.[0].chainId).toBe(chainId);
  });

  const own = (name: string, values: readonly unknown[]): Refused[] =>
    values.map((value) => [{ transactions: [{ to: TO, [name]: value }] }, [`transactions[0].${name}`]]);
  const one = [{ to: TO }];
  const refused: readonly Refused[] = [
    ...[undefined, null, [], {}, '[]', Array.from({ length: 33 }, () => ({ to: TO }))].map(
      (transactions): Refused => [{ transactions }, ['transactions']],
    ),
    [{ transactions: [...one, null, 'x', []] }, [1, 2, 3].map((n) => `transactions[${String(n)}]`)],
    ...own('to', [undefined, null, ' ', 5, 'x'.repeat(256)]),
    ...own('value', [-1, 0.5, 2 ** 53, true, {}, '', '-1', '1.5', '0x', '1e3', ' 1', String(2n ** 256n)]),
    ...own('data', [{}, 5, '', '0x0', '00', '0xzz', ' 0x', `0x${'00'.repeat(131_073)}`]),
    ...own('label', [5, 'x'.repeat(201)]),
    ...own('chain_id', [0, -1, 0.5, 2 ** 53, '', 'one', '1.0', '0', true, []]),
    [{ transactions: [{ to: TO, chain_id: 2 }], chain_id: 1 }, ['transactions[0].chain_id']],
    [
      { transactions: [...one, { to: TO, chain_id: 2 }, { to: TO, chain_id: 3 }] },
      ['transactions[2].chain_id'],
    ],
    [{ transactions: one, chain_id: 'one' }, ['chain_id']],
    [{ transactions: one, from: 5 }, ['from']],
    [{ transactions: one, from: 'x'.repeat(256) }, ['from']],
    [
      { transactions: [{ to: '', value: 'x', data: 'x', label: 1, chain_id: 'x' }], from: 5, chain_id: 0 },
      [
        ...['to', 'value', 'data', 'label', 'chain_id'].map((name) => `transactions[0].${name}`),
        ...['from', 'chain_id'],
      ],
    ],
  ];

  it.each(refused.map(([body, paths]) => [JSON.stringify(body).slice(0, 100), body, paths] as const))(
    'refuses %s with a path for each problem',
    async (_title, body, paths) => {
      const answer = await post('/api/simulate', body);
      expect([answer.status, pathsOf(answer)]).toEqual([400, paths]);
      expect(simulate).not.toHaveBeenCalled();
    },
  );

  it('needs a body and the header, and reads nothing of the query', async () => {
    for (const body of [undefined, '', 'null', '[]', '{']) {
      expect((await post('/api/simulate?transactions=[]', body)).status).toBe(400);
    }
    const without = await server.ask('POST', '/api/simulate', { body: { transactions: [{ to: TO }] } });
    expect([without.status, pathsOf(without)]).toEqual([400, ['X-Session-Id']]);
    expect((await post('/api/simulate', { transactions: 'x'.repeat(1_100_000) })).status).toBe(413);
    expect(simulate).not.toHaveBeenCalled();
  });

  it('passes on a refusal of the core, without creating the session', async () => {
    simulate.mockRejectedValue(new RefusedError('invalid', 'chain 5 is not configured'));
    const { status, json } = await post('/api/simulate', { transactions: [{ to: TO }], chain_id: 5 });
    expect([status, json]).toMatchObject([400, { error: 'chain 5 is not configured', code: 'invalid' }]);
    expect(touch).not.toHaveBeenCalled();
  });
});

describe('archiving', () => {
  it('says whether the thread is archived', async () => {
    const archiveSession = jest.fn<Core['archiveSession']>((id, archived) =>
      Promise.resolve({ ...newSession(id, 0), archived }),
    );
    await serve({ archiveSession });
    for (const base of ['', '/current']) {
      const path = `${base}/api/sessions/${session.toUpperCase()}`;
      const archived = await server.ask('POST', `${path}/archive`);
      expect([archived.status, archived.json]).toEqual([200, { session_id: session, is_archived: true }]);
      const back = await server.ask('POST', `${path}/unarchive`, { body: '{' });
      expect([back.status, back.json]).toEqual([200, { session_id: session, is_archived: false }]);
    }
    expect(archiveSession.mock.calls.slice(0, 2)).toEqual([
      [session, true],
      [session, false],
    ]);
    expect((await server.ask('POST', '/api/sessions/x/archive')).status).toBe(400);
    expect((await server.ask('GET', `/api/sessions/${session}/archive`)).status).toBe(405);
    expect((await server.ask('POST', `/legacy/api/sessions/${session}/archive`)).status).toBe(404);
  });
});

describe('a snapshot', () => {
  const common = { app: 'default', wallet: '0xaa', chainId: 1, expiresAt: 1 };
  const typedData = { domain: { chainId: '1' }, message: { amount: MOST } };
  const pending: PendingRequest[] = [
    {
      ...{ ...common, id: 3, label: 'Send' },
      payload: {
        ...{ kind: 'transaction', to: '0xbb', value: MOST, data: '0x' },
        ...{ gas: '21000', nonce: 0, after: [] },
      },
    },
    { ...common, id: 4, label: 'Permit', payload: { kind: 'signature', typedData, text: null } },
  ];
  const call = {
    type: 'wallet_eip712_request',
    payload: { typed_data: typedData, description: 'Permit', pending_eip712_id: 4 },
  };
  const events = [
    { n: 1, kind: 'SystemError', text: '{"type":"x"}' },
    { n: 2, kind: 'InlineCall', text: JSON.stringify(call) },
  ] as const;
  const confirm = jest.fn();
  const release = jest.fn();

  beforeEach(async () => {
    confirm.mockClear();
    release.mockClear();
    const shown = fakeSnapshot({
      session: { ...newSession(session, 0), pending },
      faults: { events, confirm, release },
    });
    const systemEvents = () => Promise.resolve([{ kind: 'SystemNotice', text: 'n' } as const, ...events]);
    await serve({ snapshot: () => shown, interrupt: () => Promise.resolve(false), systemEvents });
  });

  it('shows what is pending and the call, exactly', async () => {
    const { status, json, text } = await server.ask('GET', '/api/state', { session });
    const transaction = {
      ...{ to: '0xbb', value: MOST, data: '0x', chain_id: 1, from: '0xaa', gas: '21000' },
      ...{ label: 'Send', kind: 'native_transfer' },
    };
    const signature = { typed_data: typedData, description: 'Permit', chain_id: 1, from: '0xaa' };
    expect([status, json]).toMatchObject([
      200,
      {
        system_events: [{ SystemError: '{"type":"x"}' }, { InlineCall: call }],
        user_state: { pending_txs: { 3: transaction }, pending_eip712s: { 4: signature } },
      },
    ]);
    expect(text).toContain(`{"InlineCall":${JSON.stringify(call)}}`);
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([1, 0]);
    const listed = await server.ask('GET', '/api/events', { session });
    expect(listed.json).toEqual([
      { SystemNotice: 'n' },
      { SystemError: '{"type":"x"}' },
      { InlineCall: call },
    ]);
  });

  it('counts as delivered by a response with a body only, and is never a 304', async () => {
    await server.ask('HEAD', '/api/state', { session });
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([0, 1]);
    const polled = await server.ask('GET', '/api/state', { session, headers: { 'If-None-Match': '*' } });
    expect([polled.status, objectOf(polled.json).system_events]).toEqual([200, expect.any(Array)]);
    await server.ask('POST', '/api/interrupt', { session });
    expect([confirm.mock.calls.length, release.mock.calls.length]).toEqual([2, 1]);
  });
});
