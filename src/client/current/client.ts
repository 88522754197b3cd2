import { linked } from '../pacing.js';
import { shownUntil } from '../inner-event.js';
import { randomId } from '../random-id.js';
import type { Client, ClientOptions, SendOptions, SessionEvent } from '../types.js';
import { wellFormed } from '../well-formed.js';
import type { Wire } from '../wire.js';
import { askCurrent } from './ask.js';
import { CurrentCalls } from './calls.js';
import { CurrentFollower } from './follow.js';

/** Creates a client for the current surface. */
export function currentClient(wire: Wire, options: ClientOptions): Client {
  const calls = new CurrentCalls(wire, options);
  const watches = new Set<CurrentFollower>();
  const nudge = (): void => {
    for (const watch of watches) watch.nudge();
  };

  return {
    surface: 'current',
    sessionId: wire.sessionId,
    create: (wallet) => calls.create(wallet),
    async send(text, sending: SendOptions = {}) {
      await calls.send(wellFormed(text), sending.idempotencyKey ?? randomId(), sending);
      nudge();
    },
    ask: (text, sending = {}) => askCurrent(wire, calls, text, sending, nudge),
    watch: (signal) => watch(signal),
    state: () => calls.state(),
    refresh: nudge,
    interrupt: () => calls.interrupt(),
    setUserState: (patch) => calls.state(undefined, patch),
    threads: (wallet) => calls.threads(wallet),
    rename: (sessionId, title) => calls.rename(sessionId, title),
    archive: (sessionId, archived) => calls.archive(sessionId, archived),
    delete: (sessionId) => calls.delete(sessionId),
    branch: (before) => calls.branch(before, randomId()),
    historyPage: (page) => calls.historyPage(page),
    apps: async () => (await calls.appDetails()).map(({ name }) => name),
    appDetails: () => calls.appDetails(),
    rigs: async () => (await calls.rigDetails()).map(({ id }) => id),
    rigDetails: () => calls.rigDetails(),
    selectRig: (rig) => calls.selectRig(rig),
    storedSecrets: (clientId, app) => calls.storedSecrets(clientId, app),
    storeSecret: (clientId, secret) => calls.storeSecret(clientId, secret),
    deleteSecret: (clientId, secret) => calls.deleteSecret(clientId, secret),
    pending: () => calls.pending(),
    async reportSystem(report) {
      await calls.reportSystem(report);
      nudge();
    },
    walletNonce: () => calls.walletNonce(),
    proveWallet: (message, signature) => calls.proveWallet(message, signature),
    close: () => {
      wire.close();
    },
  };

  async function* watch(signal: AbortSignal): AsyncGenerator<SessionEvent, void, undefined> {
    const either = linked(wire.closed, signal);
    const watch = new CurrentFollower(calls, either.signal);
    watches.add(watch);
    try {
      yield* shownUntil(either.signal, watch.run());
    } finally {
      watches.delete(watch);
      either.abort();
    }
  }
}
