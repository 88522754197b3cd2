import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { Observer } from '../../../core/ports/observer.js';
import type { Log } from '../../../core/ports/log.js';
import { openProvider, type ProviderSettings } from './provider.js';
import { traceRequests } from './requests.js';
import { traceWork, type TracedModel } from './work.js';

/** The observers that trace this process. */
export interface Traces {
  readonly observer: Observer;
  readonly requests: ReturnType<typeof traceRequests>;
  /** Exports the queued spans, within 2 seconds. Never rejects. */
  close(): Promise<void>;
}

/**
 * Starts to trace requests, turns, model requests and tool calls.
 * @param options `models`: the configured details of rigs, by rig id
 */
export function createTraces(
  options: ProviderSettings & { readonly models: ReadonlyMap<string, TracedModel>; readonly log: Log },
): Traces {
  const provider = openProvider(options, options.log);
  const { tracer } = provider;
  const current = new AsyncLocalStorage<Span>();
  return {
    observer: traceWork(tracer, current, options.models),
    requests: traceRequests(tracer, current),
    close: () => provider.close(),
  };
}
