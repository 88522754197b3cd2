import type { Config } from '../config.js';
import type { Observer } from '../core/ports/observer.js';
import { observers } from '../core/ports/observers.js';
import type { Clock } from '../core/ports/clock.js';
import type { Log } from '../core/ports/log.js';
import type { Store } from '../core/ports/store.js';
import type { Metrics } from '../adapters/telemetry/prometheus/metrics.js';
import type { MetricsPage } from '../http/pages/metrics-page.js';
import type { RequestObserver } from '../http/observer.js';

/** The observers of work and requests, and the metrics they collect. */
export interface Telemetry {
  readonly observer: Observer;
  readonly requests: readonly RequestObserver[];
  /** The store to use. Its operations are timed when metrics are on. */
  readonly store: Store;
  /** Null when metrics are off. */
  readonly metrics: Metrics | null;
  readonly page: MetricsPage | null;
  /** Exports the last spans. Never rejects. */
  close(): Promise<void>;
}

type Settings = Pick<Config, 'apps' | 'rigs' | 'metrics' | 'metricsToken' | 'traces'>;

/** Starts metrics and traces as configured. Loads only the modules of what is enabled. */
export async function openTelemetry(
  config: Settings,
  deps: {
    readonly store: Store;
    readonly busUp: (() => boolean) | null;
    readonly clock: Clock;
    readonly log: Log;
    readonly version: string;
    /** The names of the rigs and tools that are known at the start. */
    readonly names: { readonly rigs: readonly string[]; readonly tools: readonly string[] };
  },
): Promise<Telemetry> {
  const [counted, traces] = await Promise.all([countWork(config, deps), traceWork(config, deps)]);
  const parts = [counted?.metrics, traces].filter((part) => part !== undefined);
  return {
    observer: observers(parts.map(({ observer }) => observer)),
    requests: parts.map(({ requests }) => requests),
    store: counted?.metrics.store ?? deps.store,
    metrics: counted?.metrics ?? null,
    page: counted?.page ?? null,
    close: async () => traces?.close(),
  };
}

async function countWork(
  { apps, metrics: isWanted, metricsToken }: Settings,
  deps: Parameters<typeof openTelemetry>[1],
): Promise<{ readonly metrics: Metrics; readonly page: MetricsPage } | undefined> {
  if (!isWanted) return undefined;
  const [{ createMetrics }, { TEXT_TYPE }] = await Promise.all([
    import('../adapters/telemetry/prometheus/metrics.js'),
    import('../adapters/telemetry/prometheus/text.js'),
  ]);
  const metrics = createMetrics({
    ...deps,
    names: { ...deps.names, apps: apps.map(({ name }) => name) },
  });
  return { metrics, page: { text: () => metrics.text(), contentType: TEXT_TYPE, token: metricsToken } };
}

async function traceWork({ traces, rigs }: Settings, { log, version }: { log: Log; version: string }) {
  if (traces === null) return undefined;
  const { createTraces } = await import('../adapters/telemetry/otel/traces.js');
  const models = new Map(
    rigs.flatMap((rig) => {
      if (rig.provider === 'demo') return [];
      const { id, model, baseUrl } = rig;
      return [[id, { model, address: baseUrl === null ? null : new URL(baseUrl).hostname }] as const];
    }),
  );
  return createTraces({ ...traces, version, models, log });
}
