import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A model provider over real sockets, whose answers a test writes. Nothing in it waits for time: a script that must
 * wait does so on a promise of the test (`release`), and a test learns what happened by awaiting `requests` and
 * `closed`.
 *
 * ```ts
 * const upstream = await startUpstream(); upstream.next(async (reply) => { reply.open(); reply.event(textChunk('Hel'));
 * await gate; reply.drop(); }); const rig = createModelRig({ …, baseUrl: `${upstream.url}/v1` });
 * ```
 */
export interface Upstream {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** Every request so far, in order of arrival. */
  readonly requests: readonly UpstreamRequest[];
  /** How many TCP connections there have been. */
  readonly connections: number;
  /** Queues the script of the next request. */
  next(script: Script): void;
  /** The script of every request that finds no queued one. Without it they answer 500. */
  always(script: Script): void;
  /** Resolves with the n-th request (from 0), once it has come. */
  request(n: number): Promise<UpstreamRequest>;
  /** Ends idle kept connections, as a provider does that restarts. */
  closeIdle(): void;
  /** Cuts what is open and stops. */
  close(): Promise<void>;
}

/** A request as it came. */
export interface UpstreamRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown;
  /**
   * Resolves when its response was closed: `complete` after its end, `aborted` when the client went away or it was
   * dropped.
   */
  readonly closed: Promise<'complete' | 'aborted'>;
}

/** Answers one request. When it returns, the response ends, unless it was dropped or is meant to hang. */
export type Script = (reply: Reply, request: UpstreamRequest) => void | Promise<void>;

/** What a script can do. */
export interface Reply {
  /** Sends status 200 and the headers of an event stream at once. */
  open(headers?: Record<string, string>): void;
  /** Sends another status at once, of a body that is still to come. */
  head(status: number): void;
  /** Sends one `data:` event; a value that is not text as JSON. */
  event(data: unknown, name?: string): void;
  /** Sends bytes as they are. */
  raw(text: string): void;
  /** Answers with a whole JSON body. */
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Destroys the socket: the client sees a cut connection. */
  drop(): void;
  /** Resolves when the client has gone, for a script that sends nothing more. */
  hang(): Promise<void>;
}

/** A chunk of a chat completion with text. */
export function textChunk(content: string): object {
  return chunk({ content });
}

/** A chunk with a part of a tool call: the first one of a call carries its id and name. */
export function toolChunk(index: number, part: { id?: string; name?: string; arguments: unknown }): object {
  const { id, name, arguments: args } = part;
  return chunk({
    tool_calls: [
      { index, ...(id === undefined ? {} : { id, type: 'function' }), function: { name, arguments: args } },
    ],
  });
}

/** The chunk that ends a chat completion, with its usage. */
export function endChunk(reason = 'stop', usage = { prompt_tokens: 7, completion_tokens: 3 }): object {
  return {
    ...chunk({}, reason),
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}

/** A script that says these pieces of text, one event each, and ends as it should. */
export function sayScript(...pieces: readonly string[]): Script {
  return (reply) => {
    reply.open();
    for (const piece of pieces) reply.event(textChunk(piece));
    reply.event(endChunk());
    reply.event('[DONE]');
  };
}

function chunk(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

/** Starts an upstream on a free loopback port. */
export async function startUpstream(): Promise<Upstream> {
  const queued: Script[] = [];
  const requests: UpstreamRequest[] = [];
  const arrivals = new Map<number, (request: UpstreamRequest) => void>();
  const sockets = new Set<Socket>();
  let connections = 0;
  let fallback: Script = (reply) => {
    reply.json(500, { error: { message: 'the test gave no script for this request' } });
  };

  const server = createServer((req, res) => {
    const closed = new Promise<'complete' | 'aborted'>((resolve) => {
      let complete = false;
      // 'finish' also comes when a destroyed socket gives back what it could not send.
      res.once('finish', () => {
        complete = !req.socket.destroyed;
      });
      res.once('close', () => {
        resolve(complete ? 'complete' : 'aborted');
      });
    });
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const request = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body, closed };
      const n = requests.push(request) - 1;
      arrivals.get(n)?.(request);
      const script = queued.shift() ?? fallback;
      Promise.resolve(script(replyOn(res, closed), request)).then(
        () => res.end(),
        (error: unknown) => res.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    });
  });
  server.keepAliveTimeout = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = addressOf(server.address());

  return {
    url: `http://127.0.0.1:${String(port)}`,
    requests,
    get connections() {
      return connections;
    },
    next(script) {
      queued.push(script);
    },
    always(script) {
      fallback = script;
    },
    request(n) {
      const known = requests[n];
      return known === undefined
        ? new Promise((resolve) => arrivals.set(n, resolve))
        : Promise.resolve(known);
    },
    closeIdle() {
      server.closeIdleConnections();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function replyOn(res: ServerResponse, closed: Promise<unknown>): Reply {
  return {
    open(headers = {}) {
      res.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
      res.flushHeaders();
    },
    head(status) {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.flushHeaders();
    },
    event(data, name) {
      const text = typeof data === 'string' ? data : JSON.stringify(data);
      res.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
    },
    raw(text) {
      res.write(text);
    },
    json(status, body, headers = {}) {
      res.writeHead(status, { 'content-type': 'application/json', ...headers });
      res.end(JSON.stringify(body));
    },
    drop() {
      res.socket?.destroy();
    },
    async hang() {
      await closed;
    },
  };
}

function addressOf(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the upstream has no TCP address');
  return address;
}
