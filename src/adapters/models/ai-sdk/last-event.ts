import { isJsonObject } from '../../../core/model/json.js';
import type { PackagedProvider } from './model.js';

/** The types of the events that end a stream of OpenAI's Responses API and of Anthropic's Messages API. */
const LAST_TYPES: Record<Exclude<PackagedProvider, 'google'>, ReadonlySet<unknown>> = {
  openai: new Set(['response.completed', 'response.incomplete', 'response.failed']),
  anthropic: new Set(['message_stop']),
};

/** True for the event with which a provider ends a response. `event` is its JSON. */
export function isLastEvent(provider: PackagedProvider, event: unknown): boolean {
  if (!isJsonObject(event)) return false;
  if (provider !== 'google') return LAST_TYPES[provider].has(event.type);
  const candidate: unknown = Array.isArray(event.candidates) ? event.candidates[0] : undefined;
  return isJsonObject(candidate) && typeof candidate.finishReason === 'string';
}
