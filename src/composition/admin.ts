import { randomBytes } from 'node:crypto';
import type { Config } from '../config.js';
import type { Observer } from '../core/ports/observer.js';
import type { Clock } from '../core/ports/clock.js';
import type { Log } from '../core/ports/log.js';
import type { Digests } from '../core/ports/digests.js';
import type { RunningCore } from '../core/create-core.js';
import type { Store } from '../core/ports/store.js';
import type { RootPages } from '../surfaces/index.js';

/** The admin pages and the observer that feeds them. */
export interface Admin {
  readonly observer: Observer;
  /** Starts to store the activity. */
  start(): void;
  /** Stores the last activity. Never rejects. */
  close(): Promise<void>;
  pages(core: RunningCore): RootPages;
}

/** Creates the admin pages. Null without an `ADMIN_TOKEN`: then no activity is recorded and no page is served. */
export async function createAdmin(
  {
    adminToken,
    apps,
    limits,
    maxSecretsBytes,
  }: Pick<Config, 'adminToken' | 'apps' | 'limits' | 'maxSecretsBytes'>,
  {
    store,
    clock,
    digests,
    log,
  }: { readonly store: Store; readonly clock: Clock; readonly digests: Digests; readonly log: Log },
): Promise<Admin | null> {
  if (adminToken === null) return null;
  const [{ Recent }, { createOperator }, { adminRoutes }] = await Promise.all([
    import('../core/operations/recent-activity.js'),
    import('../core/operations/operator.js'),
    import('../surfaces/admin/router.js'),
  ]);
  const recent = new Recent({ store, clock, log });
  return {
    observer: recent.observer,
    start: () => {
      recent.start();
    },
    close: () => recent.close(),
    pages(core) {
      const health = () => core.health();
      const keysChanged = () => {
        core.keysChanged();
      };
      const operator = createOperator({
        ...{ store, apps, limits, maxSecretsBytes, recent, health, keysChanged, clock, digests, randomBytes },
      });
      const names = apps.map(({ name }) => name);
      return (dialect) => adminRoutes({ operator, core, log, token: adminToken, apps: names }, dialect);
    },
  };
}
