/** How much a model reasons before it responds, least first. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** The efforts that the API of each provider has. */
export const EFFORTS_OF: Readonly<
  Record<'openai-compatible' | 'openai' | 'anthropic' | 'google', readonly ReasoningEffort[]>
> = {
  'openai-compatible': REASONING_EFFORTS,
  openai: REASONING_EFFORTS,
  anthropic: ['low', 'medium', 'high', 'xhigh', 'max'],
  google: ['minimal', 'low', 'medium', 'high'],
};

/** Optional settings of a rig. What is absent is left to the provider. */
export interface RigOptions {
  /** Additional headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly temperature?: number | undefined;
  /** The limit of a response, in tokens. */
  readonly maxOutputTokens?: number | undefined;
  /** False: the model is sent no tools. */
  readonly tools?: boolean | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
}
