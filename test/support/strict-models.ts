import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/model/json.js';
import { endChunk, sayScript, type Reply, type UpstreamRequest } from './upstream.js';

/** How a provider of a model that reasons refuses a history. */
export interface StrictModel {
  readonly name: string;
  /** The deltas of its n-th step with a call of `get_time`. */
  deltas(n: number): readonly JsonObject[];
  /** The body of its error for a history that lacks what it requires; undefined: it accepts the history. */
  refusal(messages: readonly JsonObject[]): unknown;
}

/** The steps with calls in each turn. */
const STEPS = 2;

/** A provider that reasons, calls `get_time` twice in each turn, and then answers. */
export class StrictProvider {
  /** The errors that it has sent. */
  readonly refusals: string[] = [];
  #steps = 0;

  constructor(
    readonly model: StrictModel,
    private readonly status = 400,
  ) {}

  /** The script of every request. */
  readonly script = (reply: Reply, request: UpstreamRequest): void | Promise<void> => {
    const body = isJsonObject(request.body) ? request.body : {};
    if (body.tools === undefined) return sayScript('A title')(reply, request);
    const messages = objectsIn(body.messages);
    const error = this.model.refusal(messages);
    if (error !== undefined) {
      this.refusals.push(JSON.stringify(error));
      reply.json(this.status, error);
      return;
    }
    const results = messages.slice(lastUser(messages)).filter(({ role }) => role === 'tool');
    if (results.length >= STEPS) return sayScript('It is noon.')(reply, request);
    reply.open();
    for (const delta of this.model.deltas(this.#steps++))
      reply.event({ choices: [{ index: 0, delta, finish_reason: null }] });
    reply.event(endChunk('tool_calls'));
    reply.event('[DONE]');
  };
}

function callOf(n: number, more: JsonObject = {}): JsonObject {
  const call = { index: 0, id: idOf(n), type: 'function', function: { name: 'get_time', arguments: '{}' } };
  return { tool_calls: [{ ...call, ...more }] };
}

const idOf = (n: number): string => `call_${String(n)}`;
const thoughtOf = (n: number): string => `I look at the clock, time ${String(n)}.`;
const signatureOf = (n: number): string => `signature-${String(n)}`;
const PLACEHOLDER = 'skip_thought_signature_validator';

function lastUser(messages: readonly JsonObject[]): number {
  return messages.findLastIndex(({ role }) => role === 'user');
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The first call of a message, and the number of its step. */
function firstCall(message: JsonObject): { readonly call: JsonObject; readonly n: number } | undefined {
  const [call] = objectsIn(message.tool_calls);
  return typeof call?.id === 'string' ? { call, n: Number(call.id.replace('call_', '')) } : undefined;
}

const invalid = (message: string): object => ({
  error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
});

const reasoningDeltas = (n: number): readonly JsonObject[] => [
  { role: 'assistant', content: null, reasoning_content: '' },
  { reasoning_content: thoughtOf(n).slice(0, 8) },
  { reasoning_content: thoughtOf(n).slice(8) },
  callOf(n),
];

/** True for the exact reasoning of a step, or for a placeholder. */
function isOwn({ reasoning_content: text }: JsonObject, n: number): boolean {
  return text === thoughtOf(n) || text === ' ';
}

/** DeepSeek V3.2 requires the reasoning of the calls after the last user message. */
const deepseek32: StrictModel = {
  name: 'DeepSeek V3.2',
  deltas: reasoningDeltas,
  refusal(messages) {
    const at = messages.findIndex((message, index) => {
      const step = firstCall(message);
      return step !== undefined && index > lastUser(messages) && !isOwn(message, step.n);
    });
    if (at < 0) return undefined;
    const guide = 'https://api-docs.deepseek.com/guides/thinking_mode#tool-calls';
    return invalid(
      `Missing \`reasoning_content\` field in the assistant message at message index ${String(at)}. For more information, please refer to ${guide}`,
    );
  },
};

/** DeepSeek V4 requires the field of every message of the assistant, once there are calls. */
const deepseek4: StrictModel = {
  name: 'DeepSeek V4',
  deltas: reasoningDeltas,
  refusal(messages) {
    if (!messages.some(firstCall)) return undefined;
    const lacks = messages.some((message) => {
      const step = firstCall(message);
      const isPresent = step === undefined ? message.reasoning_content === ' ' : isOwn(message, step.n);
      return message.role === 'assistant' && !isPresent;
    });
    return lacks
      ? invalid('The `reasoning_content` in the thinking mode must be passed back to the API.')
      : undefined;
  },
};

/** Kimi requires the reasoning of all calls, and takes an empty text for none. */
const kimi: StrictModel = {
  name: 'Kimi K2.5',
  deltas: reasoningDeltas,
  refusal(messages) {
    const at = messages.findIndex((message) => {
      const step = firstCall(message);
      return step !== undefined && !isOwn(message, step.n);
    });
    if (at < 0) return undefined;
    const message = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${String(at)}`;
    return { error: { message, type: 'invalid_request_error' } };
  },
};

const MISSING_SIGNATURE =
  'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:get_time` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.';

/** Gemini's OpenAI-compatible endpoint requires the signatures of the calls after the last user message. */
const gemini: StrictModel = {
  name: 'Gemini',
  deltas: (n) => [
    callOf(n, { extra_content: { google: { thought_signature: signatureOf(n) } } }),
    { role: 'assistant', content: '' },
  ],
  refusal(messages) {
    const unsigned = messages.slice(lastUser(messages)).find((message) => {
      const step = firstCall(message);
      const extra = JSON.stringify(step?.call.extra_content);
      const accepted = step === undefined ? [] : [signatureOf(step.n), PLACEHOLDER];
      return (
        step !== undefined &&
        !accepted.some((signature) => extra === JSON.stringify({ google: { thought_signature: signature } }))
      );
    });
    if (unsigned === undefined) return undefined;
    return [{ error: { code: 400, message: MISSING_SIGNATURE, status: 'INVALID_ARGUMENT' } }];
  },
};

/** OpenRouter requires Gemini's signatures as reasoning details, one for each step. */
const openrouter: StrictModel = {
  name: 'Gemini at OpenRouter',
  deltas: (n) => [
    textDetail(thoughtOf(n).slice(0, 8)),
    textDetail(thoughtOf(n).slice(8)),
    { ...callOf(n), reasoning_details: [encrypted(signatureOf(n), n)] },
  ],
  refusal(messages) {
    const isWrong = messages.slice(lastUser(messages)).some((message) => {
      const step = firstCall(message);
      if (step === undefined) return false;
      const text = { type: 'reasoning.text', text: thoughtOf(step.n), format: 'google-gemini-v1', index: 0 };
      const accepted = [[text, encrypted(signatureOf(step.n), step.n)], [encrypted(PLACEHOLDER, step.n)]];
      return !accepted.some((details) => same(details, message.reasoning_details ?? null));
    });
    if (!isWrong) return undefined;
    const inner = JSON.stringify({
      error: { code: 400, message: MISSING_SIGNATURE, status: 'INVALID_ARGUMENT' },
    });
    const guide = 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks';
    const raw = `Gemini models require OpenRouter reasoning details to be preserved in each request. Please refer to our docs: ${guide}. Upstream error: ${inner}`;
    const metadata = { raw, provider_name: 'Google AI Studio' };
    return { error: { message: 'Provider returned error', code: 400, metadata } };
  },
};

function textDetail(text: string): JsonObject {
  const detail = { type: 'reasoning.text', text, format: 'google-gemini-v1', index: 0 };
  return { role: 'assistant', content: '', reasoning: text, reasoning_details: [detail] };
}

function encrypted(data: string, n: number): JsonObject {
  return { type: 'reasoning.encrypted', data, id: idOf(n), format: 'google-gemini-v1', index: 0 };
}

function same(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Sends reasoning, but takes no field that OpenAI's format lacks, as Groq does. */
export const unwilling: StrictModel = {
  name: 'Groq',
  deltas: (n) => [{ role: 'assistant', reasoning: thoughtOf(n) }, callOf(n)],
  refusal(messages) {
    const known = ['role', 'content', 'tool_calls', 'tool_call_id'];
    const at = messages.findIndex((message) => Object.keys(message).some((field) => !known.includes(field)));
    if (at < 0) return undefined;
    const place = `'messages.${String(at)}'`;
    const message = `${place} : for 'role:assistant' the following must be satisfied[(${place} : property 'reasoning' is unsupported, did you mean 'role'?)]`;
    return { error: { message, type: 'invalid_request_error' } };
  },
};

export const STRICT_MODELS: readonly StrictModel[] = [deepseek32, deepseek4, kimi, gemini, openrouter];
