import type { Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import type { Log } from '../../../core/ports/log.js';

export interface ProviderSettings {
  /** An OTLP/HTTP endpoint, such as `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly serviceName: string;
  readonly version: string;
  /** Further resource attributes of this service. */
  readonly resource: Readonly<Record<string, string>>;
  /** The sampling of traces that start here. */
  readonly root: 'all' | 'none' | { readonly ratio: number };
  /** True: the sampling decision of an incoming request's `traceparent` applies. */
  readonly followsParent: boolean;
}

export interface Provider {
  readonly tracer: Tracer;
  /** Exports the queued spans, within 2 seconds. Never rejects. */
  close(): Promise<void>;
}

/** Timeout of the last export, in milliseconds. */
const FAREWELL_MS = 2_000;

/**
 * Exports spans in batches in the background. While the collector is unavailable, at most 2048 spans are queued and
 * further ones are dropped. Registers nothing globally.
 */
export function openProvider(settings: ProviderSettings, log: Log): Provider {
  const exporter = new OTLPTraceExporter({ url: settings.url });
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        ...settings.resource,
        'service.name': settings.serviceName,
        'service.version': settings.version,
      }),
    ),
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor(reporting(exporter, log))],
  });
  return {
    tracer: provider.getTracer('diptych', settings.version),
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, FAREWELL_MS)));
      // `reporting` has logged the failure.
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}

function samplerOf({ root, followsParent }: ProviderSettings): Sampler {
  const sampler =
    root === 'all'
      ? new AlwaysOnSampler()
      : root === 'none'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(root.ratio);
  return followsParent ? new ParentBasedSampler({ root: sampler }) : sampler;
}

/** Wraps an exporter to log when exports start to fail and when they recover. */
function reporting(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // 0: success.
        const code: number = result.code;
        const failed = code !== 0;
        if (failed && !isFailing) {
          log.warn({ err: result.error, spans: spans.length }, 'trace export failed');
        }
        if (!failed && isFailing) log.info({}, 'trace export recovered');
        isFailing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
