import { isHex } from 'viem';
import { isJsonObject } from '../../core/json.js';
import { createGuardedFetch } from '../net/guarded-fetch.js';
import { ChainError } from './chain-error.js';
import type { GatewayRequest } from './client.js';

const MAX_URLS = 3;
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** Asks gateways with a fetch that is guarded: a contract, which anybody can write, names their URLs. */
export function createGateways(allowHosts: readonly string[]): (signal: AbortSignal) => GatewayRequest {
  const guarded = createGuardedFetch({
    allowHosts,
    maxBytes: MAX_BYTES,
    headersMs: TIMEOUT_MS,
    idleMs: TIMEOUT_MS,
  });

  return (signal) =>
    async ({ data, sender, urls }) => {
      const failures: unknown[] = [];
      for (const url of urls.slice(0, MAX_URLS)) {
        try {
          const isGet = url.includes('{data}');
          const filled = url.replaceAll('{sender}', sender.toLowerCase()).replaceAll('{data}', data);
          const post = {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ data, sender }),
          };
          const response = await guarded(filled, { ...(isGet ? {} : post), signal });
          const answer: unknown = response.ok ? await response.json() : undefined;
          if (isJsonObject(answer) && isHex(answer.data)) return answer.data;
          failures.push(new Error(`A gateway answered with status ${String(response.status)}`));
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
        }
      }
      throw new ChainError('No gateway answered.', { cause: new AggregateError(failures) });
    };
}
