import type { Prune } from '../../../src/core/ports/store.js';
import { StoreUnavailableError, type Store, type StoredKey } from '../../../src/core/ports/store.js';
import { isOpen, type TurnStatus } from '../../../src/core/model/turn.js';
import { closeCall, logCall, openCall, readCallLeases, renewCalls } from './calls.js';
import { claimFaults, markFaultsShown, releaseFaults } from './faults.js';
import { claimAbandoned, readLeases, releaseTurns, renewLeases, takeOver } from './leases.js';
import { claimNotice, readActivity, readFailures, readWork, saveActivity, settleNotice } from './activity.js';
import { countSessions, readOpenTurns, readUses } from './overview.js';
import {
  branchSession,
  deleteSession,
  listSessions,
  loadTail,
  loadThread,
  readMessages,
  saveSession,
} from './sessions.js';
import {
  deleteSecrets,
  listSecretClients,
  noteSecretUse,
  pruneSecrets,
  putSecrets,
  readSecrets,
  resealSecret,
  secretTotals,
} from './secrets.js';
import { addUse, bury, commit, emptyState, findExhausted, findLive, type State } from './state.js';
import { addUsage, readUsage, readUsageClients } from './usage.js';
import {
  expireWalletRequests,
  findSettledBy,
  readWalletRequests,
  reportWalletOutcome,
  requestWallet,
  stageWalletRequest,
  verifyWalletRequest,
  walletValueSince,
} from './wallet.js';
import {
  acceptMessage,
  addNote,
  countAttempts,
  endTurn,
  findTurn,
  interruptTurns,
  readFlight,
  readTurns,
  saveProgress,
} from './turns.js';

/**
 * A store in the memory of this process: what the contract means in plain words, and a fast one for tests.
 * @param state its contents: a test that puts an earlier copy there makes the store lose commits
 */
export function createMemoryStore(state = emptyState()): Store {
  let closed = false;

  /** One step: nothing else happens while it runs. */
  function step<T>(run: () => T): Promise<T> {
    if (closed) return Promise.reject(new StoreUnavailableError('the store is closed'));
    return new Promise((resolve) => {
      resolve(run());
    });
  }

  return {
    loadThread: (id, part) => step(() => loadThread(state, id, part)),
    loadTail: (id, count) => step(() => loadTail(state, id, count)),
    revisionOf: (id) =>
      step(() => {
        const kept = state.sessions.get(id);
        if (kept === undefined) return 'unknown';
        return kept.deleted ? 'deleted' : kept.session.revision;
      }),
    heads: (ids) =>
      step(() => {
        const known = ids.flatMap((id) => state.sessions.get(id) ?? []);
        return new Map(
          known.map(({ deleted, session: { id, revision, lastEventId } }) => [
            id,
            deleted ? 'deleted' : { revision, lastEventId },
          ]),
        );
      }),
    saveSession: (change) => step(() => saveSession(state, change)),
    deleteSession: (id) => step(() => deleteSession(state, id)),
    listThreads: (wallet, page) =>
      step(() =>
        listSessions(state, (session) => session.wallet === wallet, page).map(
          ({ id, title, archived, createdAt, activeAt }) => ({ id, title, archived, createdAt, activeAt }),
        ),
      ),
    listSessions: (page) =>
      step(() =>
        listSessions(state, ({ wallet }) => page.wallet === undefined || wallet === page.wallet, page),
      ),
    readMessages: (id, page) => step(() => readMessages(state, id, page)),

    branchSession: (branching) => step(() => branchSession(state, branching)),
    acceptMessage: (acceptance) => step(() => acceptMessage(state, acceptance)),
    readTurn: (sessionId, turnId) =>
      step(() => {
        const found = findTurn(state, turnId)?.found;
        if (found?.turn.sessionId !== sessionId) return undefined;
        return { turn: found.turn, messages: [...found.messages] };
      }),
    readTurns: (id, numbers) => step(() => readTurns(state, id, numbers)),
    readFlight: (sessionId) => step(() => readFlight(state, sessionId)),
    countTurns: () =>
      step(() => {
        const statuses = [...state.sessions.values()].flatMap(({ turns }) =>
          turns.map(({ turn }) => turn.status),
        );
        const count = (status: TurnStatus) => statuses.filter((one) => one === status).length;
        return { queued: count('queued'), running: count('running') };
      }),
    interruptTurns: (sessionId, at) => step(() => interruptTurns(state, sessionId, at)),
    takeOver: (turnId, lease) => step(() => takeOver(state, turnId, lease)),
    readLeases: () => step(() => readLeases(state)),
    claimAbandoned: (lease, lost, limit) => step(() => claimAbandoned(state, lease, lost, limit)),
    renewLeases: (lease, turnIds) => step(() => renewLeases(state, lease, turnIds)),
    releaseTurns: (owner, turnIds) =>
      step(() => {
        releaseTurns(state, owner, turnIds);
      }),
    openCall: (call, lease, event, at) => step(() => openCall(state, call, { lease, event, at })),
    logCall: (callId, owner, event, at) => step(() => logCall(state, callId, { owner, event, at })),
    closeCall: (callId, holder, event, at) => step(() => closeCall(state, callId, { holder, event, at })),
    readCallLeases: () => step(() => readCallLeases(state)),
    renewCalls: (lease, callIds) =>
      step(() => {
        renewCalls(state, lease, callIds);
      }),
    saveProgress: (turn, progress, at) => step(() => saveProgress(state, turn, progress, at)),
    endTurn: (turn, ending) => step(() => endTurn(state, turn, ending)),

    appendEvents: (id, events, at) =>
      step(() => {
        const kept = findLive(state, id);
        if (kept === undefined) return undefined;
        if (events.length === 0) return { revision: kept.session.revision, events: [] };
        return commit(kept, events, at);
      }),
    readEvents: (id, after, limit) =>
      step(() => {
        const kept = state.sessions.get(id);
        const lastId = kept?.session.lastEventId ?? 0;
        const events = kept?.events.filter((event) => event.id > after).slice(0, limit) ?? [];
        return { events, oldestId: kept?.events[0]?.id ?? lastId + 1, lastId };
      }),
    readSystemEvents: (id, count) =>
      step(() => {
        const events = findLive(state, id)?.systemEvents ?? [];
        return events.slice(Math.max(0, events.length - count)).map(({ kind, text }) => ({ kind, text }));
      }),
    claimFaults: (id, claim, lost) => step(() => claimFaults(state, id, claim, lost)),
    releaseFaults: (id, owner) =>
      step(() => {
        releaseFaults(state, id, owner);
      }),
    markFaultsShown: (id, n) =>
      step(() => {
        markFaultsShown(state, id, n);
      }),

    putSecrets: (client, secrets, bounds, at) =>
      step(() => putSecrets(state, client, secrets, { bounds, at })),
    noteSecretUse: (client, at, notedBefore) =>
      step(() => {
        noteSecretUse(state, client, at, notedBefore);
      }),
    secretTotals: () => step(() => secretTotals(state)),
    listSecretClients: (limit) => step(() => listSecretClients(state, limit)),
    pruneSecrets: (before, limit) => step(() => pruneSecrets(state, before, limit)),
    readSecrets: (client, app) => step(() => readSecrets(state, client, app)),
    deleteSecrets: (client, which) => step(() => deleteSecrets(state, client, which)),
    secretKeyIds: () =>
      step(() => [...new Set([...state.secrets.values()].map(({ keyId }) => keyId))].sort()),
    readSecretsNotUnder: (keyId, limit) =>
      step(() => [...state.secrets.values()].filter((secret) => secret.keyId !== keyId).slice(0, limit)),
    resealSecret: (client, from, to) => step(() => resealSecret(state, client, from, to)),

    stageWalletRequest: (request) => step(() => stageWalletRequest(state, request)),
    requestWallet: (ask) => step(() => requestWallet(state, ask)),
    reportWalletOutcome: (report) => step(() => reportWalletOutcome(state, report)),
    verifyWalletRequest: (sessionId, id, turnId, verification) =>
      step(() => verifyWalletRequest(state, { sessionId, id, turnId }, verification)),
    readWalletRequests: (sessionId, which) => step(() => readWalletRequests(state, sessionId, which)),
    walletValueSince: (use) => step(() => walletValueSince(state, use)),
    findSettledBy: (chainId, hash) => step(() => findSettledBy(state, chainId, hash)),
    expireWalletRequests: (now, limit) => step(() => expireWalletRequests(state, now, limit)),
    addNote: (note) => step(() => addNote(state, note)),

    countRequest: (quotas) =>
      step(() => {
        const exhausted = findExhausted(state, quotas);
        if (exhausted === undefined) for (const quota of quotas) addUse(state, { ...quota, amount: 1 });
        return exhausted;
      }),
    countAttempts: (attempts) =>
      step(() => {
        countAttempts(state, attempts);
      }),

    addUsage: (rows) =>
      step(() => {
        addUsage(state, rows);
      }),
    readUsage: (since) => step(() => readUsage(state, since)),
    readUsageClients: (since) => step(() => readUsageClients(state, since)),

    claimNotice: (claim) => step(() => claimNotice(state, claim)),
    settleNotice: (name, owner, at) =>
      step(() => {
        settleNotice(state, name, owner, at);
      }),
    saveActivity: (added) =>
      step(() => {
        saveActivity(state, added);
      }),
    readActivity: (since) => step(() => readActivity(state, since)),
    readFailures: (limit) => step(() => readFailures(state, limit)),
    readWork: (since) => step(() => readWork(state, since)),

    saveKey: (key) =>
      step(() => {
        state.keys.set(key.id, key);
      }),
    findKey: (digest) => step(() => [...state.keys.values()].find((key) => key.digest === digest)),
    listKeys: () => step(() => [...state.keys.values()].sort(oldestFirst)),
    revokeKey: (id, at) =>
      step(() => {
        const key = state.keys.get(id);
        if (key !== undefined) state.keys.set(id, { ...key, revokedAt: key.revokedAt ?? at });
        return key !== undefined;
      }),

    readOpenTurns: (limit) => step(() => readOpenTurns(state, limit)),
    countSessions: (since, limit) => step(() => countSessions(state, since, limit)),
    readUses: (from, limit) => step(() => readUses(state, from, limit)),

    check: () => step(() => undefined),
    prune: (prune, signal) => step(() => (signal?.aborted === true ? [] : pruneState(state, prune))),
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };
}

function oldestFirst(a: StoredKey, b: StoredKey): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

function pruneState(state: State, prune: Prune): string[] {
  const deleted: string[] = [];
  for (const [key, { from }] of state.uses) if (from < prune.usesBefore) state.uses.delete(key);
  for (const [key, { day }] of state.usage) if (day < prune.usageBefore) state.usage.delete(key);
  for (const [key, { day }] of state.work) if (day < prune.usageBefore) state.work.delete(key);
  for (const history of [state.activity, state.failures]) {
    for (const [key, { at }] of history) if (at < prune.activityBefore) history.delete(key);
  }
  state.pastTransactions = state.pastTransactions.filter(
    ({ requestedAt }) => requestedAt !== null && requestedAt >= prune.transactionsBefore,
  );
  for (const [id, kept] of state.sessions) {
    if (kept.deleted) continue;
    const idle = !kept.turns.some(({ turn }) => isOpen(turn.status));
    if (idle && prune.threadsBefore !== null && kept.session.activeAt < prune.threadsBefore) {
      bury(state, kept);
      deleted.push(id);
      continue;
    }
    const stays = (at: number, newer: number) => at >= prune.eventsSince || newer < prune.eventsKept;
    kept.events = kept.events.filter(({ id, at }) => stays(at, kept.session.lastEventId - id));
    kept.systemEvents = kept.systemEvents.filter(
      ({ kind, n, at }) =>
        (kind !== 'SystemNotice' && n > kept.faultsShown) || stays(at, kept.lastSystemNo - n),
    );
    for (const [key, { createdAt }] of kept.keys) {
      if (createdAt < prune.idempotencyBefore) kept.keys.delete(key);
    }
  }
  return deleted;
}
