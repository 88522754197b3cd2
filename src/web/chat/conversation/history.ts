import { isObject, objectsIn, parseJson, textOf } from '../../../client/json.js';
import type { Exchange, JsonValue } from '../../../client/types.js';
import { pageFetch } from '../page-fetch.js';
import type { RecordedCall } from './view.js';

/** Maximum number of records to read for arguments. */
const LIMIT = 200;

/**
 * Returns the last tool calls of a thread with their arguments, which snapshots leave out. Empty if the history cannot
 * be read.
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
  const response = await pageFetch(url, { signal });
  const milliseconds = Date.now() - startedAt.getTime();
  const { status } = response;
  onExchange({ method: 'GET', url, headers: {}, body: undefined, status, startedAt, milliseconds });
  if (!response.ok) return [];
  const body = parseJson(await response.text());
  return objectsIn(isObject(body) ? body.messages : undefined).flatMap((record) => {
    const results = new Map(
      objectsIn(record.tool_results).map((result) => [textOf(result, 'call_id'), result]),
    );
    return objectsIn(record.tool_calls).map((call) => {
      const callId = textOf(call, 'call_id');
      const result = results.get(callId);
      return {
        ...{ callId, name: textOf(call, 'name'), args: isObject(call.args) ? call.args : {} },
        result: result === undefined ? null : resultText(result.result ?? null),
        failed: result?.status === 'failed',
      };
    });
  });
}

function resultText(result: JsonValue): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}
