/** How the API of an endpoint differs from that of most servers. */
export interface Dialect {
  /** The name of the output limit. OpenAI's reasoning models refuse `max_tokens`; many other servers know only that. */
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage must be requested. Mistral's API always sends it, and refuses the option. */
  readonly hasUsageOption: boolean;
  /** Whether call ids must have nine letters and digits. */
  readonly hasShortIds: boolean;
}

/** Returns the dialect of the server at a base URL. */
export function dialectOf(baseUrl: URL): Dialect {
  const { hostname } = baseUrl;
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  const isMistral = hostname.endsWith('.mistral.ai');
  return {
    limitField: isOpenAi ? 'max_completion_tokens' : 'max_tokens',
    hasUsageOption: !isMistral,
    hasShortIds: isMistral,
  };
}
