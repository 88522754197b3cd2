import type { Core } from '../../src/core/api.js';
import { newSession } from '../../src/core/model/session.js';
import type { Snapshot } from '../../src/core/model/snapshot.js';

/** A core whose every method fails, but for those that the test gives. */
export function fakeCore(methods: Partial<Core>): Core {
  const fail = (): never => {
    throw new Error('the test does not expect this call');
  };
  return {
    createSession: fail,
    getSession: fail,
    touch: fail,
    getThreads: fail,
    listThreads: fail,
    renameSession: fail,
    archiveSession: fail,
    deleteSession: fail,
    branchSession: fail,
    readMessages: fail,
    readTurns: fail,
    send: fail,
    turnEnded: fail,
    snapshot: fail,
    interrupt: fail,
    updates: fail,
    watchTurn: fail,
    systemEvents: fail,
    listApps: fail,
    allRigs: fail,
    listRigs: fail,
    selectRig: fail,
    listTools: fail,
    invokeTool: fail,
    storeSecrets: fail,
    bindClient: fail,
    walletChallenge: fail,
    proveWallet: fail,
    report: fail,
    simulate: fail,
    listProviderKeys: fail,
    storeProviderKey: fail,
    deleteProviderKey: fail,
    countsRequests: false,
    usageCounter: () => () => undefined,
    admit: fail,
    listSecrets: fail,
    deleteSecrets: fail,
    health: fail,
    ...methods,
  };
}

/** An idle snapshot of a session without messages. */
export function fakeSnapshot(fields: Partial<Snapshot> = {}): Snapshot {
  return {
    session: newSession('00000000-0000-4000-8000-000000000001', 0),
    status: 'idle',
    skipped: 0,
    skippedFailures: 0,
    settled: [],
    settledCount: fields.settled?.length ?? 0,
    open: [],
    faults: { events: [], confirm: () => undefined, release: () => undefined },
    tag: '1',
    ...fields,
  };
}
