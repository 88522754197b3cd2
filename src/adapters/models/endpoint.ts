import { UpstreamFault } from './upstream-fault.js';

/** Whose API a rig speaks. */
export type Provider = 'openai-compatible' | 'openai' | 'anthropic' | 'google';

/** Where a model is, and how to ask there. */
export interface Endpoint {
  readonly provider: Provider;
  readonly model: string;
  readonly baseUrl: string;
  /** Undefined: none is sent, which only `openai-compatible` allows. */
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** Where the providers are when the configuration does not say. */
export const BASE_URLS: Record<Exclude<Provider, 'openai-compatible'>, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};

/** Room for a title. Where models think before they speak, their thoughts need room too. */
export const TITLE_TOKENS: Record<Provider, number> = {
  'openai-compatible': 256,
  openai: 1024,
  anthropic: 2048,
  google: 2048,
};

/** A web page instead of a stream: the address is not that of a model API. */
export function isWebPage(contentType: string | undefined): boolean {
  return contentType?.startsWith('text/html') === true;
}

/** A key that no header can carry is refused here: what others throw then quotes it. @throws UpstreamFault */
export function requireKey({ provider, apiKey }: Endpoint): void {
  const missing = apiKey === undefined && provider !== 'openai-compatible';
  if (missing || (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))) {
    throw new UpstreamFault('credentials', { code: missing ? 'no_key' : 'malformed_key' });
  }
}
