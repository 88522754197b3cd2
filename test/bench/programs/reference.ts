/**
 * R, the bare reference: what a streamed, durable assistant costs with nothing in it that is not needed. `node:http`,
 * SQLite with `synchronous=FULL` in a worker thread that commits in groups, no Express, no access check, no history, no
 * titles. Arguments: the database file, the upstream.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import { fieldsOf } from '../json.js';
import { readText } from './bodies.js';
import { listen } from './listen.js';
import type { Row } from './reference-writer.js';
import { streamTokens } from './upstream-events.js';

const [, , file = '', upstream = ''] = process.argv;

// A worker thread does not load TypeScript by itself.
const entry = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))};
register();
await import(${JSON.stringify(import.meta.resolve('./reference-writer.ts'))});`;
const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(entry)}`), { workerData: file });
let rows: Row[] = [];
let waiters: (() => void)[] = [];

/** Resolves when the row is on the disk. */
function store(row: Row): Promise<void> {
  return new Promise((resolve) => {
    if (rows.length === 0) {
      process.nextTick(() => {
        worker.postMessage(rows);
        rows = [];
      });
    }
    rows.push(row);
    waiters.push(resolve);
  });
}

worker.on('message', (stored: number) => {
  const done = waiters.slice(0, stored);
  waiters = waiters.slice(stored);
  for (const resolve of done) resolve();
});

/** A session: the bytes of its messages, as the state shows them. */
interface Session {
  messages: Buffer;
  partial: string | null;
  /** The answer to a poll, until something changes. */
  state: Buffer | null;
}

const sessions = new Map<string, Session>();

function sessionOf(id: string): Session {
  let session = sessions.get(id);
  if (session === undefined)
    sessions.set(id, (session = { messages: Buffer.alloc(0), partial: null, state: null }));
  return session;
}

function encode(sender: string, content: string, isStreaming = false): string {
  const timestamp = new Date().toISOString();
  return JSON.stringify({ sender, content, timestamp, is_streaming: isStreaming, tool_result: null });
}

function add(session: Session, message: string): void {
  const before = session.messages.length === 0 ? [] : [session.messages, Buffer.from(',')];
  session.messages = Buffer.concat([...before, Buffer.from(message)]);
  session.state = null;
}

function stateOf(session: Session): Buffer {
  if (session.state !== null) return session.state;
  const { messages, partial } = session;
  const flight = partial === null || partial === '' ? '' : `,${encode('agent', partial, true)}`;
  const rest = JSON.stringify({
    system_events: [],
    title: 'New Chat',
    is_processing: partial !== null,
    user_state: null,
  });
  session.state = Buffer.concat([
    Buffer.from('{"messages":['),
    messages,
    Buffer.from(`${flight}],${rest.slice(1)}`),
  ]);
  return session.state;
}

function sendState(res: ServerResponse, session: Session): void {
  const body = stateOf(session);
  res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  res.end(body);
}

async function runTurn(
  id: string,
  session: Session,
  message: string,
  onText: (text: string) => void,
): Promise<void> {
  let said = '';
  await streamTokens(upstream, message, (text) => {
    said += text;
    session.partial = said;
    session.state = null;
    onText(text);
  });
  await store({ kind: 'message', session: id, role: 'assistant', content: said });
  add(session, encode('agent', said));
  session.partial = null;
  session.state = null;
}

async function accept(id: string, session: Session, message: string): Promise<void> {
  await store({ kind: 'message', session: id, role: 'user', content: message });
  add(session, encode('user', message));
  session.partial = '';
}

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
  const id = String(req.headers['x-session-id']);
  switch (pathname) {
    case '/api/state':
      sendState(res, sessionOf(id));
      return;
    case '/api/sessions': {
      await store({ kind: 'session', session: id });
      const body = JSON.stringify({ session_id: id, title: 'New Chat' });
      res
        .writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length })
        .end(body);
      return;
    }
    case '/api/chat': {
      const session = sessionOf(id);
      const message = searchParams.get('message') ?? '';
      await accept(id, session, message);
      void runTurn(id, session, message, () => undefined);
      sendState(res, session);
      return;
    }
    case '/api/thread/chat': {
      const session = sessionOf(id);
      const text = String(fieldsOf(await readText(req)).text);
      await accept(id, session, text);
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      await runTurn(id, session, text, (content) => {
        res.write(`data: ${JSON.stringify({ type: 'text', content })}\n\n`);
      });
      res.end('data: {"type":"complete"}\n\n');
      return;
    }
    case '/fill': {
      const session = sessionOf(id);
      const count = Number(searchParams.get('messages'));
      for (let n = 0; n < count; n++) add(session, encode(n % 2 === 0 ? 'user' : 'agent', 'x'.repeat(400)));
      res.end('{}');
      return;
    }
    default:
      res.writeHead(404).end();
  }
}

const server = createServer((req, res) => {
  answer(req, res).catch((error: unknown) => {
    res.destroy(error instanceof Error ? error : new Error(String(error)));
  });
});
worker.once('online', () => {
  listen(server);
});
