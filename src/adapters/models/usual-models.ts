/** A model that is registered when only its provider's API key is configured. */
export interface UsualModel {
  readonly id: string;
  readonly name: string;
  readonly model: string;
  /** At most the provider's limit: a lower value truncates long histories earlier, a higher one makes requests fail. */
  readonly contextTokens: number;
}

/** The default models of each provider, the recommended one first. */
export const usualModels: Record<'openai' | 'anthropic' | 'google', readonly UsualModel[]> = {
  openai: [
    usual('gpt-6.1-terra', 'GPT-6.1 Terra', 400_000),
    usual('gpt-6.1-sol', 'GPT-6.1 Sol', 400_000),
    usual('gpt-6-luna', 'GPT-6 Luna', 400_000),
    usual('gpt-4o', 'GPT-4o', 128_000),
  ],
  anthropic: [
    usual('claude-sonnet-5-5', 'Claude Sonnet 5.5', 1_000_000),
    usual('claude-opus-5-5', 'Claude Opus 5.5', 1_000_000),
    usual('claude-haiku-5-5', 'Claude Haiku 5.5', 200_000),
  ],
  google: [
    usual('gemini-flash-latest', 'Gemini Flash', 1_048_576),
    usual('gemini-pro-latest', 'Gemini Pro', 1_048_576),
    usual('gemini-flash-lite-latest', 'Gemini Flash-Lite', 1_048_576),
  ],
};

function usual(model: string, name: string, contextTokens: number): UsualModel {
  return { id: model, name, model, contextTokens };
}
