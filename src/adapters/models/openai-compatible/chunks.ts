import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/model/json.js';
import { NO_USAGE, type Usage } from '../../../core/model/turn.js';
import type { FinishedAnswer, FinishReason, WireCall } from '../ending.js';
import { ComplexJsonError, parseProviderJson } from '../provider-json.js';
import { UpstreamFault } from '../upstream-fault.js';
import { CallDeltas, readCallDeltas } from './call-deltas.js';
import { Reasoning } from './reasoning.js';
import { ThinkBlock } from './think-block.js';

/** OpenAI's finish reasons, then those of other servers that are no end of a usable answer. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  // Gemini: the model garbled a call.
  ['function_call_filter', 'error'],
  // Mistral, OpenRouter and vLLM.
  ['error', 'error'],
  ['abort', 'error'],
  ['model_length', 'length'],
  // DeepSeek.
  ['insufficient_system_resource', 'error'],
  // GLM.
  ['sensitive', 'content-filter'],
  ['network_error', 'error'],
]);

/**
 * Reads the chunks of one chat completion. Reasoning is no part of the text: a leading `<think>` is removed, and the
 * fields of the response are attached to its first call.
 */
export class Chunks {
  /** Created on demand: most responses contain no tool calls. */
  #calls: CallDeltas | undefined;
  readonly #thinkBlock = new ThinkBlock();
  /** Created on demand, too. */
  #reasoning: Reasoning | undefined;
  #finish: string | undefined;
  #usage: Usage = NO_USAGE;
  #spoke = false;
  #refused = false;
  #isMarked = false;

  /** @param onText receives each text fragment, never an empty one */
  constructor(private readonly onText: (text: string) => void) {}

  /**
   * Processes the data of one event.
   * @throws UpstreamFault, or the error object that the provider sent
   */
  take(data: string): void {
    if (data === '[DONE]') {
      this.#isMarked = true;
      return;
    }
    const chunk = parse(data);
    if (!isJsonObject(chunk)) throw new UpstreamFault('unreadable', { code: 'chunk' });
    const { choices, usage } = chunk;
    if (chunk.error !== undefined && chunk.error !== null) throw errorIn(chunk.error, choices);
    if (!Array.isArray(choices)) throw new UpstreamFault('unreadable', { code: 'choices' });
    if (usage !== undefined && usage !== null) this.#usage = usageOf(usage);
    const list: readonly JsonValue[] = choices;
    const [choice] = list;
    if (choice === undefined) return;
    if (!isJsonObject(choice)) throw new UpstreamFault('unreadable', { code: 'choices' });
    const { finish_reason: reason, delta } = choice;
    if (reason !== undefined && reason !== null) {
      if (typeof reason !== 'string') throw new UpstreamFault('unreadable', { code: 'finish_reason' });
      // Some servers send an empty one with each chunk.
      if (reason !== '') this.#finish = reason;
    }
    if (isJsonObject(delta)) this.#takeDelta(delta);
    else if (delta !== undefined && delta !== null) throw new UpstreamFault('unreadable', { code: 'delta' });
  }

  /** True after the finish reason and the end mark. Some providers send more, but a response may end here. */
  get isComplete(): boolean {
    return this.#isMarked && this.#finish !== undefined;
  }

  #takeText(text: string): void {
    if (text === '') return;
    this.#spoke = true;
    this.onText(text);
  }

  /**
   * Returns the completed response.
   * @param rest the lines that belong to no event
   * @throws UpstreamFault when the stream ended without a finish reason, or the error object in the rest
   */
  end(rest: string): FinishedAnswer {
    const calls = this.#callsWithReasoning();
    if (this.#finish === undefined) throw unfinished(rest);
    this.#takeText(this.#thinkBlock.end());
    // Gemini appends its own reason, such as `content_filter: PROHIBITED_CONTENT`.
    const finish = FINISH_REASONS.get(this.#finish.replace(/:.*/, '')) ?? 'other';
    const reason = this.#refused && finish === 'stop' ? 'content-filter' : finish;
    return { reason, usage: this.#usage, spoke: this.#spoke, calls };
  }

  #callsWithReasoning(): readonly WireCall[] {
    const calls = this.#calls?.end() ?? [];
    const message = this.#reasoning?.end();
    if (message === undefined) return calls;
    return calls.map((call, at) => (at === 0 ? { ...call, attached: { ...call.attached, message } } : call));
  }

  #takeDelta(delta: JsonObject): void {
    if (Reasoning.isIn(delta)) (this.#reasoning ??= new Reasoning()).take(delta);
    const { content, refusal, tool_calls: pieces } = delta;
    const deltas = pieces === undefined ? [] : readCallDeltas(pieces);
    if (typeof content === 'string') this.#takeText(this.#thinkBlock.take(content));
    else if (content !== undefined && content !== null)
      for (const text of textsOf(content)) this.#takeText(this.#thinkBlock.take(text));
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      this.#takeText(refusal);
    }
    for (const piece of deltas) (this.#calls ??= new CallDeltas()).take(piece);
  }
}

function parse(data: string): unknown {
  try {
    return parseProviderJson(data);
  } catch (error) {
    if (error instanceof ComplexJsonError) throw new UpstreamFault('unreadable', { code: 'complex_event' });
    // The original SyntaxError quotes what the provider sent.
    throw new UpstreamFault('unreadable', { code: 'SyntaxError' });
  }
}

/** The text parts of a multi-part content; other parts, such as reasoning, are ignored. */
function textsOf(content: JsonValue): string[] {
  if (!Array.isArray(content)) throw new UpstreamFault('unreadable', { code: 'content' });
  const parts: readonly JsonValue[] = content;
  return parts.flatMap((part) => {
    if (!isJsonObject(part) || typeof part.type !== 'string')
      throw new UpstreamFault('unreadable', { code: 'content' });
    return part.type === 'text' && typeof part.text === 'string' ? [part.text] : [];
  });
}

/**
 * The error to throw for a stream without a finish reason. Some servers send an error with status 200 as JSON in place
 * of events, llama.cpp until September 2025 in a field `error` of the stream.
 */
function unfinished(rest: string): unknown {
  let value: unknown;
  try {
    value = parseProviderJson(rest.replace(/^error:/, ''));
  } catch {
    return new UpstreamFault('cut');
  }
  if (!isJsonObject(value)) return new UpstreamFault('cut');
  if (value.choices !== undefined) return new UpstreamFault('endpoint', { code: 'no_stream' });
  return errorIn(value.error ?? value, undefined);
}

/**
 * The error to throw for an error in a chunk: an object, or its message alone. Without choices, an object must have a
 * message to count as an error of this format.
 */
function errorIn(error: JsonValue, choices: JsonValue | undefined): unknown {
  if (typeof error === 'string') return { message: error };
  const isKnown = isJsonObject(error) && (choices !== undefined || typeof error.message === 'string');
  return isKnown ? error : new UpstreamFault('unreadable', { code: 'error' });
}

function usageOf(usage: JsonValue): Usage {
  if (!isJsonObject(usage)) throw new UpstreamFault('unreadable', { code: 'usage' });
  return { inputTokens: countOf(usage.prompt_tokens), outputTokens: countOf(usage.completion_tokens) };
}

function countOf(value: JsonValue | undefined): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'number') throw new UpstreamFault('unreadable', { code: 'usage' });
  return value;
}
