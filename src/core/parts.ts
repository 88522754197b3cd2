import type { App } from './model/app.js';
import type { Access } from './access/app-access.js';
import type { Observer } from './ports/observer.js';
import type { Bus } from './ports/bus.js';
import type { Clock } from './ports/clock.js';
import type { Log } from './ports/log.js';
import type { Rigs } from './rigs/rig-registry.js';
import type { Secrets } from './access/secrets.js';
import type { CoreSettings } from './model/settings.js';
import type { Commit, Store } from './ports/store.js';
import type { Threads } from './sessions/session-cache.js';
import type { Toolbox } from './tools/tool-runner.js';
import type { WalletProofs } from './wallet/wallet-proofs.js';

/** What the core's own modules share. */
export interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly settings: CoreSettings;
  readonly access: Access;
  readonly apps: ReadonlyMap<string, App>;
  readonly rigs: Rigs;
  readonly secrets: Secrets;
  readonly toolbox: Toolbox;
  readonly walletProofs: WalletProofs;
  readonly threads: Threads;
}

/** Tells every watcher what a commit logged. Stored first, then announced. */
export function announce(bus: Bus, sessionId: string, commit: Commit): void {
  for (const event of commit.events) bus.publish(sessionId, { type: 'logged', event });
  bus.publish(sessionId, { type: 'session_changed', revision: commit.revision });
}
