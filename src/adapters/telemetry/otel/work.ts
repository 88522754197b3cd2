import type { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import type {
  AnswerObserver,
  ObservedCall,
  Observer,
  ToolCallObserver,
} from '../../../core/ports/observer.js';
import type { Rig } from '../../../core/ports/rig.js';

/** Details of a rig that only the configuration has. */
export interface TracedModel {
  /** The provider's name for the model. */
  readonly model: string;
  /** The host of the API; null: the provider's default. */
  readonly address: string | null;
}

/** Provider names of the semantic conventions, where they differ from ours. */
const PROVIDERS: Readonly<Record<string, string>> = { google: 'gcp.gemini', 'openai-compatible': 'openai' };
/** How many queued turns keep the context of their request. Beyond it, the oldest ones start a new trace. */
const MAX_WAITING = 10_000;

/**
 * Creates spans for turns, model requests and tool calls by the semantic conventions for generative AI, without
 * content. A turn is a child of the request that brought its message; if another process received it, the turn starts a
 * new trace.
 */
export function traceWork(
  tracer: Tracer,
  current: AsyncLocalStorage<Span>,
  models: ReadonlyMap<string, TracedModel>,
): Observer {
  const waiting = new Map<string, SpanContext>();

  function modelOf({ id, provider }: Rig): Attributes {
    return {
      'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
      'gen_ai.request.model': models.get(id)?.model ?? id,
    };
  }

  function callTool(parent: Context, { name, callId, sessionId }: ObservedCall): ToolCallObserver {
    const tool = name ?? 'unknown';
    const span = tracer.startSpan(
      `execute_tool ${tool}`,
      {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': callId,
          'gen_ai.tool.type': 'function',
          ...conversation(sessionId),
        },
      },
      parent,
    );
    return {
      ended(outcome) {
        if (outcome !== 'complete') fail(span, outcome);
        span.end();
      },
    };
  }

  function ask(parent: Context, rig: Rig, base: Attributes): AnswerObserver {
    const { model, address } = models.get(rig.id) ?? { model: rig.id, address: null };
    const started = performance.now();
    const span = tracer.startSpan(
      `chat ${model}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {
          ...base,
          'gen_ai.operation.name': 'chat',
          ...modelOf(rig),
          'gen_ai.request.stream': true,
          'diptych.rig': rig.id,
          ...(address !== null && { 'server.address': address }),
        },
      },
      parent,
    );
    return {
      spoke() {
        span.setAttribute('gen_ai.response.time_to_first_chunk', (performance.now() - started) / 1000);
      },
      ended(outcome, { inputTokens, outputTokens }, calls) {
        span.setAttributes({
          'gen_ai.usage.input_tokens': inputTokens,
          'gen_ai.usage.output_tokens': outputTokens,
        });
        if (outcome === 'complete') {
          span.setAttribute('gen_ai.response.finish_reasons', [calls > 0 ? 'tool_calls' : 'stop']);
        } else fail(span, outcome);
        span.end();
      },
    };
  }

  return {
    accepted({ id }) {
      const request = current.getStore();
      if (request === undefined) return;
      const [oldest] = waiting.keys();
      if (waiting.size >= MAX_WAITING && oldest !== undefined) waiting.delete(oldest);
      waiting.set(id, request.spanContext());
    },
    cancelled({ id }) {
      waiting.delete(id);
    },
    tookOver: () => undefined,
    toolCalled(call) {
      const request = current.getStore();
      return callTool(request === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, request), call);
    },
    started({ id, app, attempt, sessionId }) {
      const request = waiting.get(id);
      waiting.delete(id);
      const base = { 'gen_ai.agent.name': app, ...conversation(sessionId) };
      const span = tracer.startSpan(
        `invoke_agent ${app}`,
        { attributes: { 'gen_ai.operation.name': 'invoke_agent', 'diptych.attempt': attempt, ...base } },
        request === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, request),
      );
      const inside = trace.setSpan(ROOT_CONTEXT, span);
      let isOver = false;
      return {
        toolCalled: (call) => callTool(inside, call),
        asked(rig, purpose) {
          // The title is requested after the end of the turn, whose span is then closed.
          if (!isOver) span.setAttributes(modelOf(rig));
          return ask(inside, rig, { ...conversation(sessionId), 'diptych.purpose': purpose });
        },
        ended(outcome) {
          if (isOver) return;
          isOver = true;
          span.setAttribute('diptych.outcome', outcome);
          if (outcome === 'failed') fail(span, outcome);
          span.end();
        },
        left(reason) {
          if (isOver) return;
          isOver = true;
          fail(span, reason);
          span.end();
        },
      };
    },
  };
}

/** A shortened session id, as in logs: the full id grants access to the conversation. */
function conversation(sessionId: string): Attributes {
  return { 'gen_ai.conversation.id': sessionId.slice(0, 8) };
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
