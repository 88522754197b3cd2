/**
 * Answers with a short body go out as one piece of text, head and body together. Before 24, Node writes the head, the
 * body and an empty end as three pieces, which it collects for one `writev`: bare `node:http` takes a quarter less for
 * a 304, which is one piece, than for a small 200.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A body of at most so many bytes is short. Beyond, making one of several pieces costs more than it saves. */
export const SHORT_BYTES = 16_384;

declare module 'node:http' {
  interface OutgoingMessage {
    /** Inside Node: the head as text, once it is made. */
    _header: string | null;
    /** Inside Node: true once the head was written, or waits to be. */
    _headerSent?: boolean;
    /** Inside Node: false when the answer to this request has no body. */
    _hasBody: boolean;
  }
}

/**
 * Makes answers of a class that end with a short body, and have sent nothing before, one piece.
 * @returns false when this version of Node writes answers in another way: then the class stays as it was
 */
export function writeOnePiece(prototype: ServerResponse): boolean {
  const end: unknown = Reflect.get(ServerResponse.prototype, 'end');
  if (!isEnd(end)) return false;
  Object.defineProperty(prototype, 'end', {
    configurable: true,
    value(this: ServerResponse, ...args: readonly unknown[]): ServerResponse {
      const [chunk, encoding] = args;
      if (args.length === 0 || args.length > 2 || !isUtf8(encoding) || this._header || !mayHaveBody(this))
        return end.call(this, ...args);
      const body = asBytes(chunk);
      if (body === undefined) return end.call(this, ...args);
      this.writeHead(
        this.statusCode,
        this.hasHeader('Content-Length') ? undefined : { 'Content-Length': body.length },
      );
      if (this._header) this._header += body;
      return end.call(this);
    },
  });
  if (isOnePiece(prototype)) return true;
  Reflect.deleteProperty(prototype, 'end');
  return false;
}

function isEnd(
  value: unknown,
): value is (this: ServerResponse, ...args: readonly unknown[]) => ServerResponse {
  return typeof value === 'function';
}

function mayHaveBody({ _hasBody, statusCode }: ServerResponse): boolean {
  return _hasBody && statusCode !== 204 && statusCode !== 304;
}

/** The bytes of a short body as a text of as many characters, which is how Node sends heads; undefined: it is none. */
function asBytes(chunk: unknown): string | undefined {
  if (typeof chunk === 'string') {
    if (chunk.length > SHORT_BYTES) return undefined;
    return latin1Of(chunk);
  }
  return Buffer.isBuffer(chunk) && chunk.length <= SHORT_BYTES ? chunk.toString('latin1') : undefined;
}

/** The bytes of a text as UTF-8, as a text of as many characters: it and the marks around it are then one text. */
export function latin1Of(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
}

/**
 * A text that is put together from constants, as one piece: what it is made of is else gone through wherever it is
 * written. ASCII only.
 */
export function inOnePiece(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

function isUtf8(encoding: unknown): boolean {
  return encoding === undefined || encoding === 'utf8';
}

/** Whether the body goes out with the head: tried, since it hangs on the inside of Node. */
function isOnePiece(prototype: ServerResponse): boolean {
  try {
    const res = new ServerResponse(new IncomingMessage(new Socket()));
    Object.setPrototypeOf(res, prototype);
    res.end('body');
    const pieces: unknown = Reflect.get(res, 'outputData');
    const written: readonly unknown[] = Array.isArray(pieces) ? pieces : [];
    const [only, ...others] = written;
    const text = typeof only === 'object' && only !== null && 'data' in only ? String(only.data) : '';
    return others.length === 0 && /^HTTP\/1\.1 200 OK\r\n.*Content-Length: 4\r\n.*\r\n\r\nbody$/s.test(text);
  } catch {
    return false;
  }
}
