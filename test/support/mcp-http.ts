import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createScriptedServer } from './mcp-script.js';

/** The scripted server over HTTP, in this process. */
export interface HttpScript {
  readonly url: string;
  readonly port: number;
  /** The `Authorization` headers that were seen, each once. */
  readonly seen: ReadonlySet<string>;
  readonly sessions: number;
  /** How often a session was begun. */
  readonly begun: number;
  /** As after a restart: every session is unknown. */
  forget(): void;
  /** Resolves when a call of `hang` has begun, or was cancelled. */
  received(what: 'hanging' | 'cancelled'): Promise<void>;
  /** Resolves when a client listens to what the server says by itself. */
  readonly streaming: Promise<void>;
  /** Resolves when there are no more sessions than so many. */
  sessionsLeft(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startHttpScript(
  options: {
    readonly port?: number;
    /** Answers 401 to everything that has no such header. */
    readonly needsKey?: boolean;
    /** Comes before everything else; true: it has answered. */
    readonly intercept?: (req: IncomingMessage, res: ServerResponse) => boolean;
    readonly json?: boolean;
  } = {},
): Promise<HttpScript> {
  const seen = new Set<string>();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let begun = 0;
  const received = new Set<string>();
  let onStreaming: () => void = () => undefined;
  const streaming = new Promise<void>((resolve) => (onStreaming = resolve));
  const watchers = new Set<() => void>();
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (holds()) resolve();
      };
      watchers.add(look);
      look();
    });

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (options.intercept?.(req, res) === true) return;
    const { authorization } = req.headers;
    if (authorization !== undefined) seen.add(authorization);
    if (options.needsKey === true && authorization === undefined) {
      res.writeHead(401).end('no key');
      return;
    }
    const id = req.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known !== undefined) {
      if (req.method === 'GET') whenAnswering(res, onStreaming);
      await known.handleRequest(req, res);
      return;
    }
    if (id !== undefined) {
      res.writeHead(404).end('unknown session');
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (session) => {
        begun++;
        sessions.set(session, transport);
      },
      onsessionclosed: (session) => {
        sessions.delete(session);
        tell();
      },
    });
    const script = createScriptedServer({
      secret: authorization?.replace('Bearer ', ''),
      onHang: (what) => {
        received.add(what);
        tell();
      },
    });
    await script.connect(transport);
    await transport.handleRequest(req, res);
  }

  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) => {
      res.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { port } = address;
  return {
    url: `http://127.0.0.1:${String(port)}/mcp`,
    port,
    seen,
    get sessions() {
      return sessions.size;
    },
    get begun() {
      return begun;
    },
    forget() {
      sessions.clear();
    },
    received: (what) => until(() => received.has(what)),
    streaming,
    sessionsLeft: (count) => until(() => sessions.size <= count),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The handler of a stream returns at its end only. */
function whenAnswering(res: ServerResponse, then: () => void): void {
  if (res.headersSent) then();
  else if (!res.destroyed) setImmediate(whenAnswering, res, then);
}
