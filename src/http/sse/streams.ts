import type { ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { exchangeOf } from '../request/exchange.js';
import { placeOf, type RequestObserver } from '../observer.js';
import { isClosed, onClosed } from '../connections/pending-responses.js';
import { addHeaders, replaceHeader, type HeaderList } from '../response/header-list.js';
import type { HttpSettings } from '../settings.js';
import { StreamPlaces } from './stream-places.js';
import { isFull, untilDrained } from './backpressure.js';

/** The source of a stream's items. It ends by itself or when it is closed. */
export interface StreamSource<T> {
  /** True after the end if the source ended because the consumer was too slow. */
  readonly overflowed: boolean;
  /**
   * Passes each item to `take` as soon as it arrives. Buffers items while the promise that `take` returned is pending.
   * Resolves at the end of the source.
   * @throws the error that `take` threw, after the source was closed
   */
  each(take: (item: T) => Promise<void> | undefined): Promise<void>;
  close(): void;
}

/** Converts an item into the bytes of a frame; undefined: the item is skipped. */
export type Frame<T> = (item: T) => string | Buffer | undefined;

export interface StreamOptions {
  readonly lastWords?: () => string | undefined;
  readonly opening?: boolean;
}

/** The open streams of a server. */
export interface Streams {
  /**
   * Reserves one of the limited stream slots until the response is over. Call it before any other work for the request.
   * @throws HttpError 429 when the session or the client address has reached its limit of open streams
   */
  takePlace(req: Request, res: Response, sessionId: string): void;
  /**
   * Sends the feed as Server-Sent Events until it ends or the client disconnects. Sends a keep-alive comment after
   * silence and disconnects a client that is too slow for its feed.
   * @param options `lastWords` returns the final frame, if any, when the feed has ended or failed. `opening`: sends a
   * comment immediately, for streams on which nothing may happen for a while: Firefox does not tell a page of a response
   * before the first byte of its body.
   * @throws the error of the feed, after the stream has ended
   */
  stream<T>(
    req: Request,
    res: Response,
    feed: StreamSource<T>,
    frame: Frame<T>,
    options?: StreamOptions,
  ): Promise<void>;
  /** True while the response is a stream whose feed has not ended. */
  isOpen(res: ServerResponse): boolean;
  /** Closes the feeds of all open streams, which ends the streams. */
  endAll(): void;
}

const HEADERS: HeaderList = ['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no'];
const COMMENT = ': keep-alive\n\n';

interface OpenStream {
  readonly res: Response;
  readonly feed: StreamSource<unknown>;
  /** True when a frame was written since the last tick. */
  hasWritten: boolean;
  /** Time of the first tick after the last write, by the monotonic clock, in milliseconds. */
  silentSince: number;
}

/**
 * @param keepAliveMs silence in milliseconds before a keep-alive comment is sent; 0: never
 * @param streamLimit maximum number of open streams per client address; 0: no limit
 * @param observer is notified of each stream
 */
export function createStreams(
  {
    keepAliveMs,
    streamLimit = 0,
    trustProxy = false,
  }: Pick<HttpSettings, 'keepAliveMs'> & Partial<Pick<HttpSettings, 'streamLimit' | 'trustProxy'>>,
  observer?: RequestObserver,
): Streams {
  const open = new Map<ServerResponse, OpenStream>();
  const places = new StreamPlaces({ streamLimit, trustProxy });
  let timer: NodeJS.Timeout | undefined;

  return {
    takePlace: (req, res, sessionId) => {
      places.take(req, res, sessionId);
    },
    async stream(req, res, feed, frame, { lastWords, opening = false } = {}) {
      if (req.method === 'HEAD' || isGone(res)) {
        feed.close();
        beginStream(req, res).end();
        return;
      }
      const entry: OpenStream = { res, feed, hasWritten: false, silentSince: performance.now() };
      let proceed: (() => void) | undefined;
      const onClose = () => {
        feed.close();
        proceed?.();
      };
      const stopListening = onClosed(res, onClose);
      const over = observer?.streaming(req, placeOf(exchangeOf(req)));
      add(entry);
      try {
        beginStream(req, res);
        if (opening) res.write(COMMENT);
        else res.flushHeaders();
        await feed.each((item) => {
          const bytes = frame(item);
          if (bytes === undefined || isGone(res)) return undefined;
          entry.hasWritten = true;
          res.write(bytes);
          return isFull(res) ? untilDrained(res, (resolve) => (proceed = resolve)) : undefined;
        });
      } finally {
        remove(entry);
        over?.();
        stopListening();
        feed.close();
        if (feed.overflowed) cutOff(res);
        else if (!isGone(res)) res.end(lastWords?.());
      }
    },
    isOpen: (res) => open.has(res),
    endAll() {
      for (const { feed } of open.values()) feed.close();
    },
  };

  function add(entry: OpenStream): void {
    open.set(entry.res, entry);
    timer ??= setInterval(tick, Math.min(Math.max(keepAliveMs / 10, 10), 1000)).unref();
  }

  function remove(entry: OpenStream): void {
    open.delete(entry.res);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Sends keep-alive comments and closes streams that overflowed. One timer serves all streams. */
  function tick(): void {
    const now = performance.now();
    for (const entry of open.values()) {
      const { res, feed } = entry;
      if (isFull(res)) {
        // `feed.each` is waiting for this client to drain, so it cannot notice that the feed has overflowed.
        if (feed.overflowed) cutOff(res);
      } else if (entry.hasWritten) {
        entry.hasWritten = false;
        entry.silentSince = now;
      } else if (keepAliveMs > 0 && now - entry.silentSince >= keepAliveMs) {
        entry.silentSince = now;
        res.write(COMMENT);
      }
    }
  }
}

/** Writes the response head and drops the request's headers, which take much of the memory of an idle stream. */
function beginStream(req: Request, res: Response): Response {
  addHeaders(res, HEADERS);
  replaceHeader(res, 'Cache-Control', 'no-cache, no-transform');
  res.writeHead(200);
  req.headers = {};
  req.rawHeaders = [];
  return res;
}

/**
 * Destroys the connection. `res.destroy()` would not do: a pipelined response that waits for its turn has no socket
 * yet.
 */
function cutOff(res: Response): void {
  res.req.socket.destroy();
}

/**
 * True once the connection is closed. Wrapped in a function so that TypeScript does not narrow `res` after the first
 * check.
 */
function isGone(res: Response): boolean {
  return isClosed(res);
}
