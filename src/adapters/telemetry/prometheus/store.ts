import type { Store } from '../../../core/ports/store.js';
import type { Catalogue } from './catalogue.js';

/**
 * Wraps a store to measure the operations that a conversation waits for, and to count the errors of these and of
 * pruning.
 */
export function timedStore(store: Store, metrics: Pick<Catalogue, 'storeSeconds' | 'storeErrors'>): Store {
  function counted<A extends unknown[], R>(
    operation: string,
    run: (...given: A) => Promise<R>,
    seconds?: ReturnType<Catalogue['storeSeconds']['series']>,
  ): (...given: A) => Promise<R> {
    // Created here, so that it reports 0 before the first operation.
    const errors = metrics.storeErrors.series(operation);
    return (...given) => {
      const from = performance.now();
      const running = run(...given);
      running.then(
        () => {
          seconds?.add((performance.now() - from) / 1000);
        },
        () => {
          errors.add(1);
        },
      );
      return running;
    };
  }

  function timed<A extends unknown[], R>(
    operation: string,
    run: (...given: A) => Promise<R>,
  ): (...given: A) => Promise<R> {
    return counted(operation, run, metrics.storeSeconds.series(operation));
  }

  return {
    ...store,
    loadThread: timed('load_thread', (id, part) => store.loadThread(id, part)),
    acceptMessage: timed('accept_message', (acceptance) => store.acceptMessage(acceptance)),
    saveProgress: timed('save_progress', (turn, progress, at) => store.saveProgress(turn, progress, at)),
    endTurn: timed('end_turn', (turn, ending) => store.endTurn(turn, ending)),
    interruptTurns: timed('interrupt_turns', (id, at) => store.interruptTurns(id, at)),
    renewLeases: timed('renew_leases', (lease, ids) => store.renewLeases(lease, ids)),
    saveSession: timed('save_session', (change) => store.saveSession(change)),
    appendEvents: timed('append_events', (id, events, at) => store.appendEvents(id, events, at)),
    check: timed('check', () => store.check()),
    prune: counted('prune', (prune, signal) => store.prune(prune, signal)),
    pruneSecrets: counted('prune_secrets', (before, limit) => store.pruneSecrets(before, limit)),
    expireWalletRequests: counted('expire_wallet_requests', (at, limit) =>
      store.expireWalletRequests(at, limit),
    ),
  };
}
