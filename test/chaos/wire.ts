import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity, scheduling: 'lifo' });

/** Nothing but a stream may take this long. */
const TIMEOUT_MS = 30_000;

/** The connection failed or broke: nobody answered, or not to the end. */
export class Cut extends Error {
  override readonly name = 'Cut';

  /** @param wasReused the connection had carried a request before, and broke before this one was answered */
  constructor(
    message: string,
    readonly wasReused: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** There was no answer in time. */
export class Hung extends Error {
  override readonly name = 'Hung';
}

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Base URL and path with query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Told as soon as the status is known: for a message, that is its acknowledgement. */
  readonly onHead?: (status: number) => void;
  /** How long the response may take; absent: half a minute. */
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer whose body is still coming. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly message: IncomingMessage;
  /** Goes away. */
  close(): void;
}

/** @throws Cut | Hung */
export function open({
  method,
  url,
  headers = {},
  body,
  onHead,
  timeoutMs = TIMEOUT_MS,
}: Ask): Promise<OpenAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { ...headers }, agent });
    const timer = setTimeout(() => {
      reject(new Hung(`${method} ${url.slice(0, 200)}`));
      asked.destroy();
    }, timeoutMs);
    asked.on('error', (error) => {
      clearTimeout(timer);
      reject(new Cut(error.message, asked.reusedSocket, { cause: error }));
    });
    asked.once('response', (message) => {
      clearTimeout(timer);
      const status = message.statusCode ?? 0;
      onHead?.(status);
      // The reader of the body receives its errors; they must not be thrown when there is no reader.
      message.on('error', () => undefined);
      const close = (): void => {
        asked.destroy();
      };
      resolve({ status, headers: message.headers, message, close });
    });
    asked.end(body);
  });
}

/** @throws Cut | Hung */
export async function ask(options: Ask): Promise<Answer> {
  const { status, headers, message } = await open(options);
  message.setTimeout(TIMEOUT_MS, () => message.destroy());
  let body = '';
  for await (const text of textOf(message)) body += text;
  return { status, headers, body };
}

/** An event of a stream. */
export interface StreamEvent {
  readonly id: number | undefined;
  readonly data: unknown;
}

/** The events of a stream until its end. @throws Cut when it breaks off */
export async function* eventsOf(message: IncomingMessage): AsyncGenerator<StreamEvent, void, undefined> {
  const ready: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => {
      const parsed: unknown = JSON.parse(data);
      ready.push({ id: id === undefined ? undefined : Number(id), data: parsed });
    },
  });
  for await (const text of textOf(message)) {
    parser.feed(text);
    yield* ready.splice(0);
  }
}

async function* textOf(message: IncomingMessage): AsyncGenerator<string, void, undefined> {
  const chunks: AsyncIterable<string> = message.setEncoding('utf8');
  try {
    for await (const chunk of chunks) yield chunk;
  } catch (error) {
    throw new Cut('the answer broke off', false, { cause: error });
  }
  if (!message.complete) throw new Cut('the answer broke off', false);
}

/** Gives the kept connections up. */
export function closeConnections(): void {
  agent.destroy();
}
