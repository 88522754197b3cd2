/**
 * Chat completions without a provider package, which validates each token and hands it on through four web streams. Measured: calls by the package, with text on a
 * faster way past it already, took a third of the main thread's time for a turn of 50 tokens (docs/decisions/016-chat-completions.md).
 */
import type { IncomingMessage } from 'node:http';
import type { Rig, RigError, RigPart } from '../../../core/ports.js';
import { readText, type TextReader } from '../answer-text.js';
import { MAX_REFUSAL } from '../bounds.js';
import type { Connections } from '../connections.js';
import { isWebPage, requireKey, TITLE_TOKENS, type Endpoint } from '../endpoint.js';
import { endParts } from '../ending.js';
import type { ExchangeListener, OpenExchange } from '../exchange.js';
import { UpstreamFault } from '../faults.js';
import { outlineOf, type Outline } from '../outline.js';
import { targetOf } from '../request-head.js';
import { asRigError, refusalError } from '../rig-error.js';
import { Chunks } from './chunks.js';
import { EventReader, type EventTaker } from './event-readers.js';
import { requestBody } from './request.js';

const BODILESS = new Set([204, 205]);
const NO_HEADERS = Object.freeze({});

/** Asks endpoints that speak OpenAI's chat completions. The bytes of the answer are parsed where they arrive, and each of its parts goes straight to whoever asked. */
export function createCompletions(
  endpoint: Endpoint,
  connections: Pick<Connections, 'open'>,
): Rig['respond'] {
  const { model, baseUrl, apiKey } = endpoint;
  const target = targetOf(new URL(`${baseUrl}/chat/completions`));
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'diptych',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  return (request, signal, take) =>
    new Promise((resolve, reject) => {
      const asker: Asker = { take, resolve, reject };
      try {
        requireKey(endpoint);
        const outline = outlineOf(request);
        const maxTokens = request.purpose === 'title' ? TITLE_TOKENS['openai-compatible'] : undefined;
        const body = requestBody({ model, maxTokens }, request.instructions, outline);
        const answer = new Answer(signal, outline, asker);
        connections.open({ target, method: 'POST', headers, body, signal }, answer);
      } catch (error) {
        asker.reject(failureOf(signal, asRigError(error)));
      }
    });
}

/** Who asked: gets the parts, then the end. */
interface Asker {
  readonly take: (part: RigPart) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One answer, from its head to its end. */
class Answer implements ExchangeListener, TextReader, EventTaker {
  #exchange: OpenExchange | undefined;
  #isOver = false;
  #isFirst = true;
  /** The last line that was read is an empty one: an event begins with the next byte. */
  #isBetweenEvents = false;
  #events: EventReader | undefined;
  readonly #chunks = new Chunks((text) => {
    this.asker.take({ type: 'text', text });
  });

  constructor(
    private readonly signal: AbortSignal,
    private readonly outline: Outline,
    private readonly asker: Asker,
  ) {}

  onAnswer(response: IncomingMessage, exchange: OpenExchange): void {
    this.#exchange = exchange;
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) this.#readRefusal(status <= 599 ? status : 502, response);
    else if (BODILESS.has(status)) this.onFail(new UpstreamFault('unreadable', { code: 'empty' }));
    else if (isWebPage(response.headers['content-type'])) this.onFail(new UpstreamFault('endpoint'));
    else {
      this.#events = EventReader.lend(this);
      readText(response, this);
      // Nobody asks for them any more, and they would live as long as the answer.
      response.headers = NO_HEADERS;
      response.rawHeaders = [];
    }
  }

  onFail(reason: unknown): void {
    this.#end(asRigError(reason));
  }

  takeBytes(bytes: Buffer, from: number, to: number): number {
    this.#exchange?.heard();
    return this.#isBetweenEvents ? this.#chunks.takeAlike(bytes, from, to) : from;
  }

  takeText(text: string): void {
    this.#exchange?.heard();
    if (this.#isOver) return;
    const events = this.#isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
    this.#isFirst = false;
    this.#isBetweenEvents = text.endsWith('\n\n');
    try {
      this.#events?.feed(events);
    } catch (error) {
      this.onFail(error);
    }
  }

  takeData(data: string): void {
    this.#chunks.take(data);
  }

  endText(): void {
    if (this.#isOver) return;
    this.#close();
    try {
      for (const part of endParts(this.#chunks.end(), this.outline)) this.asker.take(part);
      this.asker.resolve();
    } catch (error) {
      this.onFail(error);
    }
  }

  /** Closes the connection, unless the answer is over: then it is kept for the next one. */
  #end(error: RigError): void {
    if (!this.#isOver) this.#exchange?.cancel();
    this.#close();
    this.asker.reject(failureOf(this.signal, error));
  }

  #close(): void {
    this.#isOver = true;
    this.#isBetweenEvents = false;
    this.#events?.giveBack();
    this.#events = undefined;
  }

  #readRefusal(status: number, response: IncomingMessage): void {
    let body = '';
    const end = (): void => {
      this.#end(refusalError({ status, headers: textHeaders(response), body }));
    };
    readText(response, {
      takeText: (text) => {
        this.#exchange?.heard();
        if (this.#isOver) return;
        body += text;
        if (body.length > MAX_REFUSAL) end();
      },
      endText: () => {
        if (this.#isOver) return;
        this.#close();
        end();
      },
    });
  }
}

/** What an answer fails with: whatever came of an abort, its reason. */
function failureOf(signal: AbortSignal, error: RigError): unknown {
  return signal.aborted ? signal.reason : error;
}

function textHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
