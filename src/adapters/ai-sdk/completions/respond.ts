import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { createParser } from 'eventsource-parser';
import type { Rig, RigError, RigPart } from '../../../core/ports.js';
import { readText } from '../answer-text.js';
import { isWebPage, requireKey, TITLE_TOKENS, type Endpoint } from '../endpoint.js';
import { endParts } from '../ending.js';
import type { Call, Connections } from '../exchange.js';
import { UpstreamFault } from '../faults.js';
import { outlineOf, type Outline } from '../outline.js';
import { asRigError, refusalError } from '../rig-error.js';
import { Chunks } from './chunks.js';
import { requestBody } from './request.js';

/** How much of a refusal is read. */
const MAX_REFUSAL = 1_048_576;
const BODILESS = new Set([204, 205]);

/**
 * Asks endpoints that speak OpenAI's chat completions, without a provider package: that one validates each token and hands it on through
 * four web streams. The bytes of the answer are parsed where they arrive, and each of its parts goes straight to whoever asked.
 */
export function createCompletions(
  endpoint: Endpoint,
  connections: Pick<Connections, 'open'>,
): Rig['respond'] {
  const { model, baseUrl, apiKey } = endpoint;
  const target = urlToHttpOptions(new URL(`${baseUrl}/chat/completions`));
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'user-agent': 'diptych',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };

  return (request, signal, take) =>
    new Promise((resolve, reject) => {
      const answer = new Answer(signal, { take, resolve, reject });
      try {
        requireKey(endpoint);
        const outline = outlineOf(request);
        const maxTokens = request.purpose === 'title' ? TITLE_TOKENS['openai-compatible'] : undefined;
        const body = requestBody({ model, maxTokens }, request.instructions, outline);
        answer.open(connections, { target, method: 'POST', headers, body, signal }, outline);
      } catch (error) {
        answer.fail(error);
      }
    });
}

/** Who asked: gets the parts, then the end. */
interface Asker {
  readonly take: (part: RigPart) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** One answer, from the request to its end. */
class Answer {
  #cancel: () => void = () => undefined;
  #isOver = false;

  constructor(
    private readonly signal: AbortSignal,
    private readonly asker: Asker,
  ) {}

  open(connections: Pick<Connections, 'open'>, call: Call, outline: Outline): void {
    this.#cancel = connections.open(call, {
      onAnswer: (response, heard) => {
        this.#read(response, heard, outline);
      },
      onFail: (reason) => {
        this.fail(reason);
      },
    });
  }

  fail(reason: unknown): void {
    this.#end(asRigError(reason));
  }

  /** Closes the connection, unless the answer is over: then it is kept for the next one. */
  #end(error: RigError): void {
    if (!this.#isOver) this.#cancel();
    this.#isOver = true;
    this.asker.reject(this.signal.aborted ? this.signal.reason : error);
  }

  #read(response: IncomingMessage, heard: () => void, outline: Outline): void {
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) this.#readRefusal(status <= 599 ? status : 502, response, heard);
    else if (BODILESS.has(status)) this.fail(new UpstreamFault('unreadable', { code: 'empty' }));
    else if (isWebPage(response.headers['content-type'])) this.fail(new UpstreamFault('endpoint'));
    else this.#readEvents(response, heard, outline);
  }

  #readEvents(response: IncomingMessage, heard: () => void, outline: Outline): void {
    const chunks = new Chunks((text) => {
      this.asker.take({ type: 'text', text });
    });
    const parser = createParser({
      onEvent: ({ data }) => {
        if (!this.#isOver) chunks.take(data);
      },
    });
    let isFirst = true;
    const take = (text: string): void => {
      heard();
      if (this.#isOver) return;
      this.#try(() => {
        parser.feed(isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text);
      });
      isFirst = false;
    };
    readText(response, take, () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#try(() => {
        for (const part of endParts(chunks.end(), outline)) this.asker.take(part);
        this.asker.resolve();
      });
    });
  }

  #readRefusal(status: number, response: IncomingMessage, heard: () => void): void {
    let body = '';
    const take = (text: string): void => {
      heard();
      if (body.length < MAX_REFUSAL) body += text;
    };
    readText(response, take, () => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#end(refusalError({ status, headers: textHeaders(response), body }));
    });
  }

  #try(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(error);
    }
  }
}

function textHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
