import { REASONING_EFFORTS, type ReasoningEffort, type RigOptions } from '../../core/rigs/rig-options.js';
import type { RigRequest } from '../../core/ports/rig.js';
import type { Endpoint, Provider } from './endpoint.js';

/** The output limit of a title, in tokens. It includes the reasoning tokens of models that reason. */
const TITLE_TOKENS: Record<Provider, number> = {
  'openai-compatible': 2048,
  openai: 1024,
  anthropic: 2048,
  google: 2048,
};

/** Returns the options of a request. A title has its own limit of tokens, and needs little reasoning. */
export function optionsFor(
  purpose: RigRequest['purpose'],
  { provider, options }: Endpoint,
): Pick<RigOptions, 'temperature' | 'maxOutputTokens' | 'reasoning'> {
  const { temperature, maxOutputTokens, reasoning } = options;
  if (purpose === 'answer') return options;
  // A model that does not reason may refuse an effort, so only OpenAI's API, which ignores it, is sent an unset one.
  const effort = reasoning ?? (provider === 'openai' ? 'low' : undefined);
  return {
    temperature,
    maxOutputTokens: Math.min(TITLE_TOKENS[provider], maxOutputTokens ?? Number.POSITIVE_INFINITY),
    reasoning: effort === undefined ? undefined : atMostLow(effort),
  };
}

function atMostLow(effort: ReasoningEffort): ReasoningEffort {
  return REASONING_EFFORTS.indexOf(effort) < REASONING_EFFORTS.indexOf('low') ? effort : 'low';
}
