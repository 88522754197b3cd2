/**
 * Answers that wait for their turn on a connection, because its client asked again without waiting (RFC 9112 §9.3.2).
 * Node gives such an answer the connection once those before it are over; when the connection closes first, Node 20
 * tells it nothing, and whoever waits for its `close` waits for ever. Newer ones tell it, a tick later.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const QUEUED: unique symbol = Symbol('queued');

declare module 'node:http' {
  interface OutgoingMessage {
    /** Inside Node: whether it was told that it is closed, which happens once. */
    _closed?: boolean;
  }
}

declare module 'node:net' {
  interface Socket {
    [QUEUED]?: Set<ServerResponse>;
  }
}

/**
 * Sees to it that an answer closes with its connection even if it never got it. @param onTurn is called once it has the
 * connection
 */
export function closeWithConnection(
  { socket }: IncomingMessage,
  res: ServerResponse,
  onTurn: (res: ServerResponse) => void,
): void {
  if (res.socket !== null) {
    onTurn(res);
    return;
  }
  const queued = socket[QUEUED] ?? begin(socket);
  queued.add(res);
  res.once('socket', () => {
    queued.delete(res);
    onTurn(res);
  });
}

function begin(socket: Socket): Set<ServerResponse> {
  socket.once('close', closeQueued);
  return (socket[QUEUED] = new Set());
}

function closeQueued(this: Socket): void {
  for (const res of this[QUEUED] ?? []) {
    if (res.closed) continue;
    res.destroy();
    res._closed = true;
    res.emit('close');
  }
}
