import type { EventBody } from '../../src/core/model/event.js';
import type { Store } from '../../src/core/ports/store.js';
import {
  end,
  LEASE,
  LOST,
  record,
  send,
  sendAndClaim,
  T0,
  WIDE,
  change,
} from '../contracts/store-fixtures.js';
import { claimOf, hashOf, pend, report, stage, transfer, verdict } from '../contracts/wallet-fixtures.js';

const id = (n: number) => `6f1ff4a2-1f0a-4a53-9a3c-${String(n).padStart(12, '0')}`;

/** Sessions of `fillStore`: some that talked, one that works, one renamed, one deleted, one that came back. */
export const SESSIONS = Array.from({ length: 12 }, (_, n) => id(n));
const WORKING = id(20);
const RENAMED = id(21);
const DELETED = id(22);
export const REVIVED = id(23);
const WALLET = '0x00000000000000000000000000000000000000aa';
const CLIENT = 'c'.repeat(64);

/** Text that databases are known to spoil: quotes, beyond the basic plane, escapes, blanks at the ends. */
const ODD = " “it's” \\u0000 \\ 🦑 \uFFFD \n\t ";

const TOOL_EVENTS: readonly EventBody[] = [
  { type: 'tool_update', callId: 'call-1', toolName: 'get_time', message: ODD },
  { type: 'system_notice', message: `notice ${ODD}` },
];

async function talk(store: Store, sessionId: string, turns: number): Promise<void> {
  for (let no = 1; no <= turns; no += 1) {
    const turn = await sendAndClaim(store, sessionId, {
      text: `question ${String(no)}${ODD}`,
      idempotency: { key: `key-${String(no)}-🦑`, fingerprint: 'f'.repeat(64), notBefore: 0 },
      at: T0 + no,
      set: {
        wallet: WALLET,
        app: 'default',
        userState: { tree: { note: ODD, nested: [1, null] }, flat: true },
      },
      quotas: [
        {
          subject: `session:${sessionId}`,
          measure: 'turns',
          from: T0,
          limit: 1_000,
          milliseconds: 86_400_000,
        },
      ],
    });
    const call = { callId: `call-${String(no)}`, name: 'get_time', args: { zone: ODD } };
    const result = {
      callId: call.callId,
      name: call.name,
      result: { at: [ODD] },
      failed: false,
      multiStep: false,
    };
    await store.saveProgress(
      turn,
      {
        messages: [record(turn, 1, { content: ODD, toolCalls: [call], toolResults: [result] })],
        events: TOOL_EVENTS,
        partialText: 'half',
      },
      T0 + no,
    );
    await end(store, turn, {
      messages: [record(turn, 2)],
      ...(no % 2 === 0 && { outcome: 'failed', error: `it failed ${ODD}` }),
      usage: { inputTokens: 12, outputTokens: 34 },
      shownTokens: 5,
      at: T0 + no + 1,
    });
  }
}

/** Wallet requests in every state that one can be left in, an archived session, and a note. */
async function signAll(store: Store, sessionId: string): Promise<void> {
  const payload = transfer(String(10n ** 77n));
  const message = { kind: 'signature', typedData: { note: ODD, more: [null, {}] }, text: null } as const;
  await pend(store, sessionId, { payload, label: ODD }, { payload: message }, {}, {});
  for (const [id, state] of [
    [1, 'reported'],
    [3, 'rejected'],
    [4, 'reported'],
  ] as const) {
    const claim = claimOf(state === 'rejected' ? null : hashOf(id), { error: ODD });
    const { claimed } = await report(store, sessionId, [id], { state, claim, text: ODD, claimTurn: LEASE });
    if (claimed === null) throw new Error('the turn was not claimed');
    if (id === 1) await store.verifyWalletRequest(sessionId, id, claimed.id, verdict({ detail: ODD }));
    await end(store, claimed, { messages: [record(claimed, 1, { role: 'system', origin: 'wallet' })] });
  }
  await stage(store, sessionId, { isSound: false });
  await store.addNote({
    sessionId,
    text: ODD,
    messageId: `note of ${sessionId}`,
    turnId: `turn of the note of ${sessionId}`,
    app: 'default',
    maxSessionBytes: 1_000_000,
    at: T0 + 8,
  });
  await store.saveSession(change(sessionId, { set: { archived: true } }));
}

/** Puts something of every kind that a store keeps into it. */
export async function fillStore(store: Store): Promise<void> {
  for (const [n, sessionId] of SESSIONS.entries()) await talk(store, sessionId, (n % 3) + 1);
  // One turn whose owner is gone, with text in flight, and one behind it.
  const running = await sendAndClaim(store, WORKING, { claim: LOST, at: T0 + 5 });
  await store.saveProgress(
    running,
    { messages: [], events: [], partialText: `half a ${ODD}`, partialSince: T0 + 5 },
    T0 + 6,
  );
  await send(store, WORKING, { text: 'and then', at: T0 + 7 });
  await store.saveSession(
    change(RENAMED, {
      set: { title: `Mine ${ODD}`, titleSource: 'person', wallet: WALLET, rig: 'demo', client: CLIENT },
      events: [{ type: 'title_changed', title: `Mine ${ODD}` }],
      isActivity: true,
      at: T0 + 9,
    }),
  );
  await signAll(store, RENAMED);
  for (const sessionId of [DELETED, REVIVED]) {
    await talk(store, sessionId, 2);
    await pend(store, sessionId, {}, {});
    await store.deleteSession(sessionId, T0 + 10);
  }
  await store.saveSession(change(REVIVED, { set: { title: 'Again' }, isActivity: true, at: T0 + 11 }));
  const first = { id: 'key-1', digest: 'd'.repeat(64), apps: ['default', 'mycoindex'], label: `for ${ODD}` };
  await store.saveKey({ ...first, createdAt: T0, expiresAt: T0 + 1_000, revokedAt: null });
  await store.saveKey({
    ...first,
    id: 'key-2',
    digest: 'e'.repeat(64),
    createdAt: T0,
    expiresAt: null,
    revokedAt: T0,
  });
  const counted = { day: 0, surface: 'legacy', endpoint: 'GET /api/sessions/:id' } as const;
  await store.addUsage([
    { ...counted, keyId: 'key-1', client: 'WalletApp', requests: 3, firstAt: 1, lastAt: 9 },
    { ...counted, keyId: null, client: 'none', requests: 1, firstAt: 2, lastAt: 2 },
  ]);
  await store.saveActivity({
    minutes: [
      {
        ...{ at: 60_000, node: 'a', complete: 2, interrupted: 0, failed: 1, inputTokens: 3, outputTokens: 4 },
        ...{ firstText: { 3: 1 }, duration: { 40: 2, 41: 1 } },
      },
    ],
    failures: [
      { at: T0, turnId: 'turn', sessionId: SESSIONS[0] ?? '', app: 'default', rig: null, reason: ODD },
    ],
    work: [{ day: 0, app: 'default', keyId: null, turns: 3, inputTokens: 3, outputTokens: 4 }],
  });
  const notice = { name: 'noticed', owner: 'a' };
  await store.claimNotice({ ...notice, at: T0, until: T0 + 1, deliveredBefore: null });
  await store.settleNotice(notice.name, notice.owner, T0);
  await store.putSecrets(
    CLIENT,
    ['ALPHA', 'a_lpha', 'BETA'].map((name) => ({ app: 'default', name, keyId: 'k1', sealed: 'c2VhbGVk' })),
    WIDE,
    T0,
  );
}

/** All that a store says about what `fillStore` put into it. */
export async function describeStore(store: Store): Promise<unknown> {
  const all = [...SESSIONS, WORKING, RENAMED, DELETED, REVIVED];
  const sessions = await Promise.all(
    all.map(async (sessionId) => {
      const thread = await store.loadThread(sessionId);
      const messages = await store.readMessages(sessionId, { limit: 1_000, before: null });
      const turnIds = messages === 'unknown_message' ? [] : messages.messages.map(({ turnId }) => turnId);
      return {
        thread,
        messages,
        turns: await Promise.all([...new Set(turnIds)].map((turnId) => store.readTurn(sessionId, turnId))),
        revision: await store.revisionOf(sessionId),
        events: await store.readEvents(sessionId, 0, 1_000),
        systemEvents: await store.readSystemEvents(sessionId, 1_000),
        flight: await store.readFlight(sessionId),
        requests: await store.readWalletRequests(sessionId, { limit: 1_000 }),
      };
    }),
  );
  const page = { limit: 1_000, after: null };
  return {
    sessions,
    ofWallet: await store.listThreads(WALLET, page),
    all: await store.listSessions(page),
    keys: (await store.listKeys()).sort((a, b) => (a.id < b.id ? -1 : 1)),
    secrets: await store.readSecrets(CLIENT, null),
    usage: await store.readUsage(0),
    minutes: await store.readActivity(0),
    failures: await store.readFailures(10),
    work: await store.readWork(0),
    value: await store.walletValueSince({ app: 'default', wallet: WALLET, chainId: 1, since: 0 }),
  };
}
