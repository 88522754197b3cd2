import { once } from 'node:events';
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';

const started = new Set<Server>();

/** Closes what `answering` has started. */
export async function closeAnswering(): Promise<void> {
  for (const server of started) {
    started.delete(server);
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
}

/** A bare server that answers as a test says. Returns its port. */
export async function answering(
  answer: (res: ServerResponse, req: IncomingMessage) => void,
  Class: typeof ServerResponse = ServerResponse,
): Promise<number> {
  const server = createServer({ ServerResponse: Class }, (req, res) => {
    answer(res, req);
  }).listen(0, '127.0.0.1');
  started.add(server);
  await once(server, 'listening');
  return portOf(server);
}

/** Where a server listens. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * All bytes of the answer to a request without a body, but for the date; and how often its socket was written to, a
 * `writev` counting twice.
 */
export async function wire(
  answer: (res: ServerResponse) => void,
  { Class = ServerResponse, line = 'GET / HTTP/1.1' }: { Class?: typeof ServerResponse; line?: string } = {},
): Promise<{ lines: readonly string[]; body: string; writes: number }> {
  let writes = 0;
  const port = await answering((res, req) => {
    countWrites(req, (count) => (writes += count));
    answer(res);
  }, Class);
  const socket = connect(port, '127.0.0.1');
  socket.write(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
  const pieces: Uint8Array[] = [];
  for await (const piece of socket) if (piece instanceof Uint8Array) pieces.push(piece);
  const [head = '', ...rest] = Buffer.concat(pieces).toString().split('\r\n\r\n');
  const lines = head.split('\r\n').filter((text) => !text.startsWith('Date: '));
  return { lines: lines.sort(), body: rest.join('\r\n\r\n'), writes };
}

function countWrites({ socket }: IncomingMessage, add: (count: number) => void): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) throw new Error('the socket has no handle');
  for (const name of ['writev', 'writeLatin1String', 'writeUtf8String', 'writeBuffer']) {
    const write: unknown = Reflect.get(handle, name);
    if (typeof write !== 'function') continue;
    Reflect.set(handle, name, (...args: unknown[]): unknown => {
      add(name === 'writev' ? 2 : 1);
      const result: unknown = Reflect.apply(write, handle, args);
      return result;
    });
  }
}
