import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The listeners of pipelined responses that wait for earlier ones on their connection (RFC 9112 §9.3.2). */
const pending = new WeakMap<Socket, Map<ServerResponse, Set<() => void>>>();

/**
 * Calls the listener once when the response was sent or its connection closed, or immediately if either has happened.
 * Node 20 emits no `close` event on a response that waits for earlier ones when the connection closes; newer versions
 * do.
 * @returns a function that removes the listener
 */
export function onClosed(res: ServerResponse, listener: () => void): () => void {
  if (isClosed(res)) {
    listener();
    return () => undefined;
  }
  // Not `once`, which allocates: Node emits `close` only once.
  res.on('close', listener);
  if (res.socket === null) listenToConnection(res, listener);
  return () => {
    res.off('close', listener);
    pending.get(res.req.socket)?.get(res)?.delete(listener);
  };
}

function listenToConnection(res: ServerResponse, listener: () => void): void {
  const { socket } = res.req;
  let responses = pending.get(socket);
  if (responses === undefined) {
    pending.set(socket, (responses = new Map<ServerResponse, Set<() => void>>()));
    socket.once('close', closePending);
  }
  let listeners = responses.get(res);
  if (listeners === undefined) {
    responses.set(res, (listeners = new Set()));
    // Once the response has its socket, Node closes it.
    res.once('socket', () => {
      pending.get(socket)?.delete(res);
    });
  }
  listeners.add(listener);
}

function closePending(this: Socket): void {
  const responses = pending.get(this);
  pending.delete(this);
  if (responses === undefined) return;
  for (const [res, listeners] of responses) {
    res.destroy();
    for (const listener of listeners) {
      res.off('close', listener);
      listener();
    }
  }
}

/** True once the response was sent or its connection closed: further writes go nowhere. */
export function isClosed(res: ServerResponse): boolean {
  return res.closed || res.destroyed;
}

/**
 * True once all of a response was passed to the operating system. Node's `writableFinished` is also true for a response
 * whose last writes were canceled because its connection was destroyed.
 */
export function wasSent({ writableFinished, req: { socket } }: ServerResponse): boolean {
  return writableFinished && (!socket.destroyed || socket.writableFinished);
}
