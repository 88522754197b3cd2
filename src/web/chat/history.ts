import type { Exchange, JsonObject, JsonValue } from '../../client/types.js';
import type { RecordedCall } from './view.js';

/** How much of the history is asked for arguments. */
const LIMIT = 200;

/**
 * The last tool calls of a thread with their arguments, which snapshots leave out. Empty where the history cannot be read.
 * @param base the service's base URL
 */
export async function readCalls(
  base: string,
  sessionId: string,
  options: { readonly signal: AbortSignal; readonly onExchange: (exchange: Exchange) => void },
): Promise<RecordedCall[]> {
  const { signal, onExchange } = options;
  const url = `${base}/current/api/sessions/${sessionId}/messages?limit=${String(LIMIT)}`;
  const startedAt = new Date();
  const response = await fetch(url, { signal });
  const milliseconds = Date.now() - startedAt.getTime();
  const { status } = response;
  onExchange({ method: 'GET', url, headers: {}, body: undefined, status, startedAt, milliseconds });
  if (!response.ok) return [];
  const body: unknown = await response.json();
  return objectsOf(fieldOf(body, 'messages')).flatMap((record) => {
    const results = new Map(
      objectsOf(record.tool_results).map((result) => [textOf(result.call_id), result.result ?? null]),
    );
    return objectsOf(record.tool_calls).map((call) => {
      const callId = textOf(call.call_id);
      const result = results.get(callId);
      return {
        ...{ callId, name: textOf(call.name), args: isObject(call.args) ? call.args : {} },
        result: result === undefined ? null : resultText(result),
      };
    });
  });
}

function resultText(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
