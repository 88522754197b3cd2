import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAnnouncedTooLarge } from '../request/body.js';
import { isBodiless } from '../request/body-length.js';
import { ListedResponse } from '../response/header-list.js';

/** How much of a request's body is read after the response, in bytes, and for how long, in milliseconds. */
const REST_BYTES = 8 * 1_048_576;
const REST_MS = 2_000;

/** The parameters of one overload of `end`. All of them accept what they were called with. */
type Overload = Parameters<ServerResponse['end']>;

/**
 * A response that closes its connection only after the rest of the request's body was read, within bounds. A server
 * that closes a connection while the client is still sending resets it, and the client may then lose the response
 * (RFC 9112 §9.6).
 */
export class LingeringResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ListedResponse<Request> {
  /** When the response was complete although the request was not, by `performance.now()`; undefined: it does not linger. */
  lingeringSince: number | undefined = undefined;

  override end(...given: unknown[]): this {
    if (this.lingeringSince !== undefined) return this;
    if (!this.#mustLinger()) {
      boundRest(this.req);
      return super.end(...(given as Overload));
    }
    this.lingeringSince = performance.now();
    const [body] = given;
    const callback = given.find((value) => typeof value === 'function');
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const encoding = typeof given[1] === 'string' && Buffer.isEncoding(given[1]) ? given[1] : 'utf8';
      // The client must be able to recognize that the response is complete.
      if (!this.hasHeader('Content-Length')) {
        const length = typeof body === 'string' ? Buffer.byteLength(body, encoding) : body.length;
        this.setHeader('Content-Length', length);
      }
      super.write(body, encoding);
    } else this.flushHeaders();
    readRest(this.req, () => {
      super.end(...((callback === undefined ? [] : [callback]) as unknown[] as Overload));
    });
    return this;
  }

  #mustLinger(): boolean {
    const { req } = this;
    if (req.complete || this.headersSent || isBodiless(req)) return false;
    return !this.shouldKeepAlive || this.getHeader('Connection') === 'close';
  }
}

/** Returns when a response began to linger, by `performance.now()`; undefined: it does not. */
export function lingeringSince(res: ServerResponse | undefined): number | undefined {
  return res instanceof LingeringResponse ? res.lingeringSince : undefined;
}

/**
 * Closes the connection of a request whose body goes on for too long after the response. Node would read it until
 * `requestTimeout`. A body within the size limit of all routes bounds itself.
 */
function boundRest(req: IncomingMessage): void {
  if (req.complete || (req.headers['transfer-encoding'] === undefined && !isAnnouncedTooLarge(req))) return;
  readRest(req, () => {
    if (!req.complete) req.socket.destroySoon();
  });
}

/** Reads the rest of a request's body, and calls `done` at its end, at a bound, or when the connection is closed. */
function readRest(req: IncomingMessage, done: () => void): void {
  if (req.readableEnded || req.destroyed) {
    done();
    return;
  }
  let left = REST_BYTES;
  const stop = (): void => {
    clearTimeout(timer);
    req.off('data', take).off('end', stop).off('close', stop).off('error', stop);
    done();
  };
  const take = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) stop();
  };
  const timer = setTimeout(stop, REST_MS).unref();
  req.on('data', take).once('end', stop).once('close', stop).once('error', stop).resume();
}
