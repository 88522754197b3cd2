import type { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api';
import { parentOf } from './traceparent.js';

/** A completed response. */
interface Answered {
  readonly surface: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/** Health checks and scrapes, which are not traced. */
const QUIET = /^(\/(current|legacy))?(\/api\/health|\/health|\/metrics)(\?|$)/;
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

/** Creates a span per request, without path and query: they may contain messages and session ids. */
export function traceRequests(tracer: Tracer, current: AsyncLocalStorage<Span>) {
  const spans = new WeakMap<IncomingMessage, Span>();
  return {
    // Spans need no list of routes.
    routed: (): void => undefined,
    around(req: IncomingMessage, handle: () => void): void {
      if (QUIET.test(req.url ?? '')) {
        handle();
        return;
      }
      const parent = parentOf(req.headers.traceparent);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const span = tracer.startSpan(methodOf(req.method ?? ''), { kind: SpanKind.SERVER }, context);
      spans.set(req, span);
      current.run(span, handle);
    },
    answered(req: IncomingMessage, { surface, method, route, status }: Answered): void {
      const span = spans.get(req);
      if (span === undefined) return;
      span.updateName(`${methodOf(method)} ${route}`);
      span.setAttributes({
        'http.request.method': methodOf(method),
        'http.route': route,
        'http.response.status_code': status,
        'diptych.surface': surface,
      });
      if (status >= 500) {
        span.setAttribute('error.type', String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
    // A request that could not be parsed has no span: nothing is known of it.
    unparsed: (): void => undefined,
    streaming(): () => void {
      return () => undefined;
    },
  };
}

/** Replaces an unknown method with `_OTHER`, as the semantic conventions require. */
function methodOf(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}
