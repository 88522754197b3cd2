import type { RigOptions } from '../../core/rigs/rig-options.js';
import type { RigRequest } from '../../core/ports/rig.js';
import { UpstreamFault } from './upstream-fault.js';

/** The API that a rig uses. */
export type Provider = 'openai-compatible' | 'openai' | 'anthropic' | 'google';

/** The address of a model and the means to call it. */
export interface Endpoint {
  readonly provider: Provider;
  readonly model: string;
  readonly baseUrl: string;
  /** Undefined: the request carries no key, which only `openai-compatible` allows. */
  readonly apiKey: string | undefined;
  readonly options: RigOptions;
  readonly fetch: typeof globalThis.fetch;
}

/** The default base URLs. */
export const BASE_URLS: Record<Exclude<Provider, 'openai-compatible'>, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Returns the endpoint with the key of a request, if the request has one of its own. */
export function withKeyOf({ apiKey }: RigRequest, endpoint: Endpoint): Endpoint {
  return apiKey === undefined ? endpoint : { ...endpoint, apiKey };
}

/** True for HTML, which means that the base URL is not that of a model API. */
export function isWebPage(contentType: string | undefined): boolean {
  return contentType?.startsWith('text/html') === true;
}

/**
 * Checks that a required key is present and valid in a header. HTTP libraries would quote an invalid one in their
 * errors.
 * @throws UpstreamFault
 */
export function requireKey({ provider, apiKey }: Endpoint): void {
  const missing = apiKey === undefined && provider !== 'openai-compatible';
  if (missing || (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))) {
    throw new UpstreamFault('credentials', { code: missing ? 'no_key' : 'malformed_key' });
  }
}
