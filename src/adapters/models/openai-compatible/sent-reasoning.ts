import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import { estimateTokens } from '../../../core/rigs/context-window.js';
import type { Attached, SessionCalls } from '../call-memory.js';
import { faultOfAnswer, type UpstreamAnswer } from '../classify.js';
import { messageIn, NO_SECRETS } from '../provider-words.js';
import type { AssistantMessage, SentCall, WireMessage } from './wire-message.js';

/** The field that gets a placeholder in messages whose own value is not known. */
type Placeholder = 'reasoning_content' | 'reasoning_details' | 'thought_signature';

/** How a request treats what the server attached to earlier steps with calls. */
export interface Habit {
  /** `brief`: signatures and encrypted data only, and a blank in place of the text. */
  readonly remembered: 'all' | 'brief' | 'none';
  /** Set once the server has required a field. */
  readonly placeholder?: Placeholder;
}

/** The reasoning that a request sends back. */
export interface SentReasoning {
  readonly habit: Habit;
  /** The calls of the session, with what the server attached to them. */
  readonly known: SessionCalls;
}

/** Sends back what a server has sent, and nothing to a server that sent nothing. */
export const FIRST_HABIT: Habit = { remembered: 'all' };

/** Kimi counts an empty text as missing. */
const BLANK = ' ';
/**
 * Google's documented placeholder for calls that Gemini has not signed:
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Statuses that do not concern the contents of the request. */
const OTHER_STATUSES = new Set([401, 402, 403, 404, 408, 409, 425, 429]);
/** Messages about a field that the server requires, does not take, or not at this length. */
const REQUIRED = /missing|must|requir|need|passed back|should be/i;
const UNWANTED = /unsupported|unexpected|unknown|unrecognized|(?:not|n't) (?:permit|support|allow)/i;
const FIELD = /reasoning|thought|extra_content/i;
const TOO_LONG = /too (?:long|large)|exceed|maximum|length|长度/i;
const INVALID_SIGNATURE = /signature is (?:not valid|invalid)|corrupted thought/i;

/** How a refused request is sent once more. */
export interface SecondTry {
  readonly habit: Habit;
  /** Whether later requests of the rig begin with it: the server has said something about all of them, not of one. */
  readonly isLasting: boolean;
}

/**
 * Returns how to send a request again after a refusal, or undefined if the refusal has another reason.
 * @param habit that of the refused request
 */
export function secondTry(habit: Habit, answer: UpstreamAnswer): SecondTry | undefined {
  const { status = 0, body } = answer;
  if (status < 400 || status > 499 || OTHER_STATUSES.has(status)) return undefined;
  const words = messageIn(body) ?? '';
  if (INVALID_SIGNATURE.test(words))
    return { habit: { remembered: 'none', placeholder: 'thought_signature' }, isLasting: false };
  const placeholder = required(words);
  if (placeholder !== undefined) return { habit: { remembered: 'all', placeholder }, isLasting: true };
  const { fault } = faultOfAnswer(answer, NO_SECRETS);
  const isTooLong = fault === 'context' || (FIELD.test(words) && TOO_LONG.test(words));
  if (isTooLong)
    return habit.remembered === 'all'
      ? { habit: { ...habit, remembered: 'brief' }, isLasting: false }
      : undefined;
  const isUnwanted = fault === 'refused' && (FIELD.test(words) || UNWANTED.test(words));
  // A server that has required a field takes it.
  return isUnwanted && habit.placeholder === undefined
    ? { habit: { remembered: 'none' }, isLasting: true }
    : undefined;
}

/** The field that a provider's message requires. */
function required(words: string): Placeholder | undefined {
  if (UNWANTED.test(words) || TOO_LONG.test(words) || !REQUIRED.test(words)) return undefined;
  // OpenRouter, about Gemini's signatures.
  if (/gemini/i.test(words) && /reasoning[ _]details/i.test(words)) return 'reasoning_details';
  if (/thought[ _]?signature/i.test(words)) return 'thought_signature';
  return words.includes('reasoning_content') ? 'reasoning_content' : undefined;
}

/**
 * Returns the fields to add to the message of a step with calls.
 * @param callId the first call
 * @param isPast the step belongs to an earlier turn: no model needs its whole reasoning, which would fill the context
 */
export function messageFields(
  callId = '',
  { habit: { remembered }, known }: SentReasoning,
  isPast: boolean,
): JsonObject {
  const fields = remembered === 'none' ? undefined : known.recall(callId)?.message;
  if (fields === undefined) return {};
  return remembered === 'all' && !isPast ? fields : brief(fields);
}

function brief({ reasoning_content: text, reasoning_details: details }: JsonObject): JsonObject {
  const list: readonly JsonValue[] = Array.isArray(details) ? details : [];
  const encrypted = list.filter((detail) => isJsonObject(detail) && detail.type === 'reasoning.encrypted');
  return {
    ...(text !== undefined && { reasoning_content: BLANK }),
    ...(encrypted.length > 0 && { reasoning_details: encrypted }),
  };
}

/** Returns the fields to add to a call. */
export function callFields(
  callId: string,
  { habit: { remembered }, known }: SentReasoning,
): Pick<SentCall, 'extra_content'> {
  const extra = remembered === 'none' ? undefined : known.recall(callId)?.extra;
  return extra === undefined ? {} : { extra_content: extra };
}

/** Caches the estimated tokens of what is attached to a call: in full, and in the brief form for later turns. */
const estimates = new WeakMap<Attached, { whole?: number; brief?: number }>();

/** Estimates the tokens of the fields that a request adds for a call. */
export function attachedTokens(callId: string, sent: SentReasoning, isPast: boolean): number {
  const attached = sent.known.recall(callId);
  if (attached === undefined || sent.habit.remembered === 'none') return 0;
  const known = estimates.get(attached) ?? {};
  estimates.set(attached, known);
  const form = isPast || sent.habit.remembered === 'brief' ? 'brief' : 'whole';
  return (known[form] ??= tokensOf({
    ...messageFields(callId, sent, isPast),
    ...callFields(callId, sent),
  }));
}

function tokensOf(fields: object): number {
  return Object.keys(fields).length === 0 ? 0 : estimateTokens(JSON.stringify(fields));
}

/** Adds the placeholder to the messages of the assistant that lack the field. */
export function withPlaceholders(
  messages: readonly WireMessage[],
  { placeholder }: Habit,
): readonly WireMessage[] {
  if (placeholder === undefined) return messages;
  return messages.map((message) => (message.role === 'assistant' ? filled(message, placeholder) : message));
}

function filled(message: AssistantMessage, placeholder: Placeholder): AssistantMessage {
  if (placeholder === 'reasoning_content')
    // DeepSeek and Kimi also require it of messages without calls, depending on the model.
    return message.reasoning_content === undefined ? { ...message, reasoning_content: BLANK } : message;
  const [first, ...others] = message.tool_calls ?? [];
  if (first === undefined) return message;
  if (placeholder === 'reasoning_details') {
    const detail = { type: 'reasoning.encrypted', data: NO_SIGNATURE, id: first.id };
    const details = [{ ...detail, format: 'google-gemini-v1', index: 0 }];
    return message.reasoning_details === undefined ? { ...message, reasoning_details: details } : message;
  }
  // Gemini signs only the first of several calls.
  const signature = { google: { thought_signature: NO_SIGNATURE } };
  return first.extra_content === undefined
    ? { ...message, tool_calls: [{ ...first, extra_content: signature }, ...others] }
    : message;
}
