import type { UpstreamAnswer } from '../classify.js';
import { messageIn } from '../provider-words.js';

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

/** Returns the dialect that a refusal requires, such as that of a model of OpenAI behind a gateway, or undefined. */
export function requiredDialect(dialect: Dialect, { status, body }: UpstreamAnswer): Dialect | undefined {
  const isRequired = status === 400 && /\buse '?max_completion_tokens\b/i.test(messageIn(body) ?? '');
  return isRequired && dialect.limitField === 'max_tokens'
    ? { ...dialect, limitField: 'max_completion_tokens' }
    : undefined;
}
