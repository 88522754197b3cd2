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

/** Where spans go. */
export interface ProviderSettings {
  /** Takes OTLP over HTTP, such as `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly serviceName: string;
  readonly version: string;
  /** More attributes of this service. */
  readonly resource: Readonly<Record<string, string>>;
  /** Decides on the traces that begin here. */
  readonly root: 'all' | 'none' | { readonly ratio: number };
  /** True when a request that comes with a trace is recorded as its sender decided. */
  readonly followsParent: boolean;
}

/** What makes spans, until it is closed. */
export interface Provider {
  readonly tracer: Tracer;
  /** Sends what is waiting, for so long at most. Never rejects. */
  close(): Promise<void>;
}

/** How long the last spans may take to be sent. */
const FAREWELL_MS = 2_000;

/**
 * Sends spans in batches, in the background. A collector that is away costs nothing but the spans: beyond 2048 that
 * wait, new ones are dropped. Nothing is registered globally.
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
      // What could not be sent has been logged.
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

/** The same exporter; tells when deliveries begin to fail and when they work again, and nothing in between. */
function reporting(exporter: SpanExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // 0 is the specification's word for success.
        const code: number = result.code;
        const failed = code !== 0;
        if (failed && !isFailing) {
          log.warn({ err: result.error, spans: spans.length }, 'traces cannot be delivered');
        }
        if (!failed && isFailing) log.info({}, 'traces are delivered again');
        isFailing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
