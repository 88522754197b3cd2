import type { Observer } from '../../../core/ports/observer.js';
import type { Clock } from '../../../core/ports/clock.js';
import type { Store } from '../../../core/ports/store.js';
import { createCatalogue } from './catalogue.js';
import type { Reading } from './instruments.js';
import { createKnownSeries, type KnownNames } from './known-series.js';
import { processMetrics } from './process.js';
import { createRequestObserver } from './requests.js';
import { timedStore } from './store.js';
import { metricsText } from './text.js';
import { createWorkObserver } from './work.js';

/** The metrics of this process, and the observers that collect them. */
export interface Metrics {
  /** Counts turns, model responses and tool calls. */
  readonly observer: Observer;
  /** Counts requests and streams. */
  readonly requests: ReturnType<typeof createRequestObserver>;
  /** The given store, with its operations timed. */
  readonly store: Store;
  /** Reads all metrics of the service. Never rejects. */
  read(): Promise<readonly Reading[]>;
  /** The metrics of the service and of the process in Prometheus' text format. */
  text(): Promise<string>;
}

/** How long a scrape waits for the store, in milliseconds. */
const STORE_TIMEOUT_MS = 2_000;

/**
 * Creates the metrics and starts to collect them.
 * @param options `names`: those of all Apps, rigs and tools that the configuration knows; `busUp`: whether Redis is available, null when none is configured
 */
export function createMetrics(options: {
  readonly store: Store;
  readonly names: KnownNames;
  readonly clock: Pick<Clock, 'now'>;
  readonly version: string;
  readonly busUp: (() => boolean) | null;
}): Metrics {
  const { store, names, clock, version, busUp } = options;
  const metrics = createCatalogue();
  metrics.build.set(1, version, process.version);
  createKnownSeries(metrics, names);
  let reading: Promise<void> | undefined;

  async function read(): Promise<readonly Reading[]> {
    // Concurrent scrapes share the queries of the store.
    reading ??= readStore().finally(() => (reading = undefined));
    await reading;
    if (busUp !== null) metrics.busUp.set(busUp() ? 1 : 0, 'redis');
    return Object.values(metrics).map((instrument) => instrument.read());
  }

  /** Checks the store as `/api/health` does, which also writes, and counts its turns. Never rejects. */
  async function readStore(): Promise<void> {
    const [isUp, counts] = await Promise.all([
      inTime(store.check().then(() => true)),
      inTime(store.countTurns()),
    ]);
    metrics.storeUp.set(isUp === true ? 1 : 0);
    // NaN instead of the last count, which would trigger the alert for turns that no node works on.
    metrics.turnsStored.set(counts?.queued ?? NaN, 'queued');
    metrics.turnsStored.set(counts?.running ?? NaN, 'running');
  }

  return {
    observer: createWorkObserver(metrics, { apps: new Set(names.apps), clock }),
    requests: createRequestObserver(metrics),
    store: timedStore(store, metrics),
    read,
    async text() {
      const [own, ofProcess] = await Promise.all([
        read(),
        processMetrics().then((registry) => registry.metrics()),
      ]);
      return metricsText(own) + ofProcess;
    },
  };
}

/** Resolves with undefined when the store does not respond in time, or fails. */
async function inTime<T>(result: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, STORE_TIMEOUT_MS, undefined);
  });
  const value = await Promise.race([result.catch(() => undefined), late]);
  clearTimeout(timer);
  return value;
}
