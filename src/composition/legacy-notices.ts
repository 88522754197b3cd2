import type { Config } from '../config.js';
import type { RunningCore } from '../core/create-core.js';
import type { LegacyNotices } from '../core/operations/legacy-notice.js';
import type { Clock } from '../core/ports/clock.js';
import type { Log } from '../core/ports/log.js';
import type { Store } from '../core/ports/store.js';

/** Creates what calls `LEGACY_WEBHOOK`. Null without one, and where the legacy surface is not exposed. */
export async function createLegacyNotices(
  { legacy, surfaces }: Pick<Config, 'legacy' | 'surfaces'>,
  deps: {
    readonly store: Store;
    readonly core: Pick<RunningCore, 'usageReport'>;
    readonly clock: Clock;
    readonly log: Log;
    readonly version: string;
  },
): Promise<LegacyNotices | null> {
  const { webhook, webhookDays } = legacy;
  if (webhook === null || !surfaces.includes('legacy')) return null;
  const [{ LegacyNotices }, { postJson }, { reportJson }] = await Promise.all([
    import('../core/operations/legacy-notice.js'),
    import('../adapters/platform/net/webhook.js'),
    import('../surfaces/admin/report.js'),
  ]);
  const { store, core, clock, log, version } = deps;
  return new LegacyNotices({
    ...{ store, clock, log, days: webhookDays },
    report: (asked) => core.usageReport(asked),
    deliver: ({ id, report }, signal) =>
      postJson(
        webhook,
        { event: 'legacy_unused', id, ...reportJson(report) },
        { headers: { 'idempotency-key': id, 'user-agent': `diptych/${version}` }, signal },
      ),
  });
}
