import { isHex } from 'viem';
import { isJsonObject } from '../../../../core/model/json.js';
import { readBoundedJson } from '../../../platform/net/bounded-body.js';
import { createGuardedFetch } from '../../../platform/net/guarded-fetch.js';
import { ChainError } from '../chain-error.js';
import type { GatewayRequest } from './client.js';

const MAX_URLS = 3;
/** Gateway requests that one tool call may cause: a contract may request lookups repeatedly and in batches. */
const MAX_LOOKUPS = 32;
const BOUNDS = { maxBytes: 256 * 1024, values: 1_000, depth: 16 };
const TIMEOUT_MS = 10_000;

/** Requests data from gateways with a guarded fetch, because contracts, which anybody can deploy, choose the URLs. */
export function createGateways(allowHosts: readonly string[]): (signal: AbortSignal) => GatewayRequest {
  const guarded = createGuardedFetch({
    allowHosts,
    maxBytes: BOUNDS.maxBytes,
    headersMs: TIMEOUT_MS,
    idleMs: TIMEOUT_MS,
  });

  return (signal) => {
    let lookups = 0;
    return async ({ data, sender, urls }) => {
      if (++lookups > MAX_LOOKUPS) throw new ChainError('The contract requires too many gateway requests.');
      const failures: unknown[] = [];
      for (const url of urls.slice(0, MAX_URLS)) {
        try {
          const isGet = url.includes('{data}');
          // Replace only the first occurrence of each placeholder, so that the URL cannot grow without bound.
          const filled = url.replace('{sender}', sender.toLowerCase()).replace('{data}', data);
          // A redirect must not repeat a POST at an address that the contract did not choose.
          const post = {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ data, sender }),
            redirect: 'error',
          } as const;
          const response = await guarded(filled, { ...(isGet ? {} : post), signal });
          if (!response.ok) await response.body?.cancel();
          const answer: unknown = response.ok ? await readJson(response) : undefined;
          if (isJsonObject(answer) && isHex(answer.data)) return answer.data;
          failures.push(new Error(`A gateway responded with status ${String(response.status)}`));
        } catch (error) {
          signal.throwIfAborted();
          failures.push(error);
        }
      }
      throw new ChainError('No gateway returned data.', { cause: new AggregateError(failures) });
    };
  };
}

async function readJson(response: Response): Promise<unknown> {
  return JSON.parse((await readBoundedJson(response, BOUNDS)).toString());
}
