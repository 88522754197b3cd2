import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import type { Rig, RigError, RigPart } from '../../../core/ports/rig.js';
import type { ModelHttpClient } from '../http/client.js';
import type { OpenResponse, ResponseHead, ResponseListener } from '../http/exchange.js';
import { LINGER_MS, MAX_BYTES, MAX_EVENT, MAX_REFUSAL, MAX_STRAY_LINES } from '../http/limits.js';
import { optionsFor } from '../call-options.js';
import { isWebPage, requireKey, withKeyOf, type Endpoint } from '../endpoint.js';
import type { SessionCalls } from '../call-memory.js';
import { endParts } from '../ending.js';
import { UpstreamFault } from '../upstream-fault.js';
import { outlineOf, type Outline } from '../request-outline.js';
import { asRigError, refusalError, type FailedCall } from '../rig-error.js';
import { faultOfAnswer, type UpstreamAnswer } from '../classify.js';
import { NO_SECRETS } from '../provider-words.js';
import { Chunks } from './chunks.js';
import { dialectOf, requiredDialect } from './dialect.js';
import { requestBody } from './request.js';
import { attachedTokens, FIRST_HABIT, secondTry, type Habit } from './sent-reasoning.js';

const BODILESS = new Set([204, 205]);
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Creates the methods of a rig that requests chat completions in OpenAI's format. It uses no provider package,
 * because the package passes each token through four web streams (docs/decisions/016-chat-completions.md).
 */
export function createCompletions(
  endpoint: Endpoint,
  client: Pick<ModelHttpClient, 'open'>,
  callsOf: (sessionId: string | undefined) => SessionCalls,
): Pick<Rig, 'respond' | 'attachedTokens'> {
  const { model, baseUrl, options } = endpoint;
  const url = new URL(`${baseUrl}/chat/completions`);
  const configured = headersFor(endpoint);
  // Both change when the server requires another form, and hold for the next requests.
  let dialect = dialectOf(url);
  let habit = FIRST_HABIT;

  const respond: Rig['respond'] = (request, signal, take) =>
    new Promise((resolve, reject) => {
      const call = { endpoint, request };
      try {
        const used = withKeyOf(request, endpoint);
        requireKey(used);
        const headers = used === endpoint ? configured : headersFor(used);
        const outline = outlineOf(request, options);
        const known = callsOf(request.sessionId);
        const chosen = { model, dialect, ...optionsFor(request.purpose, endpoint) };
        const bodyFor = (next: Habit): string =>
          requestBody(chosen, request.instructions, outline, { habit: next, known });
        const send = (body: string, handling: Pick<Consumer, 'resolve' | 'sendAgain'>): void => {
          const reader = new CompletionReader(signal, outline, { take, reject, known, ...call, ...handling });
          client.open({ url, method: 'POST', headers, body, signal }, reader);
        };
        const first = { habit, body: bodyFor(habit) };
        const sendAgain = (answer: UpstreamAnswer): boolean => {
          const required = requiredDialect(chosen.dialect, answer);
          if (required !== undefined) {
            dialect = required;
            respond(request, signal, take).then(resolve, reject);
            return true;
          }
          const next = secondTry(first.habit, answer);
          const body = next === undefined ? first.body : bodyFor(next.habit);
          if (next === undefined || body === first.body) return false;
          const done = (): void => {
            if (next.isLasting) habit = next.habit;
            resolve();
          };
          const refuse = (second: UpstreamAnswer): boolean => {
            // Without the reasoning the request was refused, too: it was not the reason.
            const isFirst =
              next.habit.remembered === 'none' && faultOfAnswer(second, NO_SECRETS).fault === 'refused';
            if (isFirst) reject(failureOf(signal, refusalError(answer, call)));
            return isFirst;
          };
          send(body, { resolve: done, sendAgain: refuse });
          return true;
        };
        send(first.body, { resolve, sendAgain });
      } catch (error) {
        reject(failureOf(signal, asRigError(error, call)));
      }
    });
  return {
    respond,
    attachedTokens: (sessionId, callId, isPast) =>
      attachedTokens(callId, { habit, known: callsOf(sessionId) }, isPast),
  };
}

function headersFor({ apiKey, options }: Endpoint): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'diptych',
    ...options.headers,
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

interface Consumer extends FailedCall {
  readonly take: (part: RigPart) => void;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly known: SessionCalls;
  /** Handles a refusal, such as by a second request without the reasoning that it is about. False: it is final. */
  readonly sendAgain: (answer: UpstreamAnswer) => boolean;
}

/** Reads one response: an event stream or the body of an error. */
class CompletionReader implements ResponseListener {
  #response: OpenResponse | undefined;
  #isOver = false;
  #lingering: NodeJS.Timeout | undefined;
  /** Set when the status is not 2xx; the body then holds the error. */
  #refusal: { readonly head: ResponseHead; body: string } | undefined;
  /** Joins characters that are split across chunks. Unlike `TextDecoder` it is fast for short chunks. */
  readonly #decoder = new StringDecoder('utf8');
  #isAtStart = true;
  #bytes = 0;
  #strayLines = 0;
  /** The first lines that belong to no event: an error of a server that sends none. */
  #strayText = '';
  readonly #chunks = new Chunks((text) => {
    this.consumer.take({ type: 'text', text });
  });
  readonly #events = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => {
      this.#chunks.take(data);
    },
    onError: ({ type, line = '' }) => {
      if (type === 'max-buffer-size-exceeded')
        throw new UpstreamFault('unreadable', { code: 'endless_event' });
      this.#countStray();
      if (this.#strayText.length + line.length <= MAX_REFUSAL) this.#strayText += `${line}\n`;
    },
    onComment: () => {
      this.#countStray();
    },
  });

  constructor(
    private readonly signal: AbortSignal,
    private readonly outline: Outline,
    private readonly consumer: Consumer,
  ) {}

  onResponse(head: ResponseHead, response: OpenResponse): void {
    this.#response = response;
    const { status } = head;
    if (status < 200 || status > 299) this.#refusal = { head, body: '' };
    else if (BODILESS.has(status)) this.#fail(new UpstreamFault('unreadable', { code: 'empty' }));
    else if (isWebPage(headerOf(head, 'content-type'))) this.#fail(new UpstreamFault('endpoint'));
  }

  onData(bytes: Buffer): void {
    if (this.#isOver) return;
    try {
      this.#bytes += bytes.length;
      if (this.#bytes > MAX_BYTES) throw new UpstreamFault('unreadable', { code: 'endless' });
      this.#takeText(this.#decoder.write(bytes));
      if (this.#chunks.isComplete) this.#lingering ??= setTimeout(this.#onLingered, LINGER_MS);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #onLingered = (): void => {
    this.onEnd();
    this.#response?.cancel();
  };

  onEnd(): void {
    if (this.#isOver) return;
    clearTimeout(this.#lingering);
    try {
      this.#takeText(this.#decoder.end());
      if (this.#refusal !== undefined) {
        this.#refuse(this.#refusal);
        return;
      }
      // The last line of JSON may have no end.
      this.#events.reset({ consume: true });
      const answer = this.#chunks.end(this.#strayText);
      for (const part of endParts(answer, this.outline, this.consumer.known)) this.consumer.take(part);
      this.#isOver = true;
      this.consumer.resolve();
    } catch (error) {
      this.#fail(error);
    }
  }

  onFail(reason: unknown): void {
    // Some proxies reset a connection in place of ending a complete response.
    if (this.#chunks.isComplete && !this.signal.aborted) this.onEnd();
    else this.#fail(reason);
  }

  #fail(reason: unknown): void {
    if (!this.#isOver) this.#reject(asRigError(reason, this.consumer));
  }

  /** Counts a line that belongs to no event. */
  #countStray(): void {
    if (++this.#strayLines > MAX_STRAY_LINES) throw new UpstreamFault('unreadable', { code: 'no_events' });
  }

  #refuse(refusal: { readonly head: ResponseHead; readonly body: string }): void {
    if (this.#isOver) return;
    const answer = answerOf(refusal);
    if (this.consumer.sendAgain(answer)) this.#close();
    else this.#reject(refusalError(answer, this.consumer));
  }

  /** Ends the call with an error and closes the connection, unless the response is complete. */
  #reject(error: RigError): void {
    this.#close();
    this.consumer.reject(failureOf(this.signal, error));
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#lingering);
    this.#response?.cancel();
  }

  #takeText(decoded: string): void {
    if (decoded === '') return;
    const text = this.#isAtStart && decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
    this.#isAtStart = false;
    if (this.#refusal === undefined) this.#events.feed(text);
    else {
      this.#refusal.body += text;
      if (this.#refusal.body.length > MAX_REFUSAL) this.#refuse(this.#refusal);
    }
  }
}

/** The error of a failed call; after an abort, always the reason of the signal. */
function failureOf(signal: AbortSignal, error: RigError): Error {
  return signal.aborted ? (signal.reason as Error) : error;
}

function answerOf({ head, body }: { readonly head: ResponseHead; readonly body: string }): UpstreamAnswer {
  const headers = Object.keys(head.headers).map((name) => [name, headerOf(head, name) ?? ''] as const);
  return {
    status: head.status <= 599 ? head.status : 502,
    headers: Object.fromEntries(headers),
    body,
  };
}

function headerOf({ headers }: ResponseHead, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}
