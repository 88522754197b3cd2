import type { Request, Response } from 'express';
import { exchangeOf } from '../request/exchange.js';
import { placeOf, type RequestObserver } from '../observer.js';
import { FrameWriter } from './frame-writer.js';
import { isClosed, onClosed } from '../connections/pending-responses.js';
import { addHeaders, replaceHeader, type HeaderList } from '../response/header-list.js';
import type { HttpSettings } from '../settings.js';
import { StreamPlaces } from './stream-places.js';
import { isFull, untilDrained } from './backpressure.js';

/** What a stream is fed from: it ends by itself, or at once when closed. */
export interface StreamSource<T> {
  /** Says, after the end, that the consumer was too slow. */
  readonly overflowed: boolean;
  /**
   * Gives each item to `take` the moment it comes. While the promise that it returned is pending, what comes waits.
   * Resolves at the end. @throws what `take` threw, once the feed is closed
   */
  each(take: (item: T) => Promise<void> | undefined): Promise<void>;
  close(): void;
}

/** Turns an item into the bytes of a frame; undefined: it is not shown. */
export type Frame<T> = (item: T) => string | Buffer | undefined;

/** The streams that one server has open. */
export interface Streams {
  /**
   * Takes a place for a stream of a session, until the answer is over. Asked before anything is done for the request.
   * @throws HttpError 429 when so many are open for the session or the address that there is none
   */
  takePlace(req: Request, res: Response, sessionId: string): void;
  /**
   * Answers with the feed as Server-Sent Events, until it ends or the client goes. Sends a comment after silence.
   * A client too slow for its feed is cut off.
   * @param lastWords the frame to end with, if any, when the feed has ended or failed
   * @throws what the feed threw, after the stream has been ended
   */
  stream<T>(
    req: Request,
    res: Response,
    feed: StreamSource<T>,
    frame: Frame<T>,
    lastWords?: () => string | undefined,
  ): Promise<void>;
  /** Ends all of them. */
  endAll(): void;
}

const HEADERS: HeaderList = ['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no'];
const KEEP_ALIVE = ': keep-alive\n\n';

interface OpenStream {
  readonly res: Response;
  readonly feed: StreamSource<unknown>;
  /** By the steady clock, in milliseconds. */
  writtenAt: number;
}

/**
 * @param keepAliveMs after how much silence a comment is sent; 0: never
 * @param streamLimit how many one address may have open; 0: no limit
 * @param observer is told of each stream
 */
export function createStreams(
  {
    keepAliveMs,
    streamLimit = 0,
    trustProxy = false,
  }: Pick<HttpSettings, 'keepAliveMs'> & Partial<Pick<HttpSettings, 'streamLimit' | 'trustProxy'>>,
  observer?: RequestObserver,
): Streams {
  const open = new Set<OpenStream>();
  const places = new StreamPlaces({ streamLimit, trustProxy });
  let timer: NodeJS.Timeout | undefined;

  return {
    takePlace: (req, res, sessionId) => {
      places.take(req, res, sessionId);
    },
    async stream(req, res, feed, frame, lastWords) {
      if (req.method === 'HEAD' || isGone(res)) {
        feed.close();
        if (!isGone(res)) beginStream(req, res).end();
        return;
      }
      const entry: OpenStream = { res, feed, writtenAt: performance.now() };
      const frames = new FrameWriter(res);
      let proceed: (() => void) | undefined;
      const onClose = () => {
        feed.close();
        proceed?.();
      };
      const stopListening = onClosed(res, onClose);
      const over = observer?.streaming(req, placeOf(exchangeOf(req)));
      add(entry);
      try {
        beginStream(req, res).flushHeaders();
        await feed.each((item) => {
          const bytes = frame(item);
          if (bytes === undefined || isGone(res)) return undefined;
          entry.writtenAt = performance.now();
          frames.write(bytes);
          return isFull(res) ? untilDrained(res, (resolve) => (proceed = resolve)) : undefined;
        });
      } finally {
        remove(entry);
        over?.();
        stopListening();
        feed.close();
        // What is still to be said goes out in one piece with the end.
        const { socket } = res;
        socket?.cork();
        frames.flush();
        if (feed.overflowed) cutOff(res);
        else if (!isGone(res)) res.end(lastWords?.());
        socket?.uncork();
      }
    },
    endAll() {
      for (const { feed } of open) feed.close();
    },
  };

  function add(entry: OpenStream): void {
    open.add(entry);
    timer ??= setInterval(tick, Math.min(Math.max(keepAliveMs / 10, 10), 1000)).unref();
  }

  function remove(entry: OpenStream): void {
    open.delete(entry);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** One timer for all streams. */
  function tick(): void {
    const now = performance.now();
    for (const entry of open) {
      const { res, feed } = entry;
      if (isFull(res)) {
        // Its loop waits for a client that does not read, and cannot see that the feed is over.
        if (feed.overflowed) cutOff(res);
      } else if (keepAliveMs > 0 && now - entry.writtenAt >= keepAliveMs) {
        entry.writtenAt = now;
        res.write(KEEP_ALIVE);
      }
    }
  }
}

/**
 * Writes the head, and lets go of what nobody asks for while the stream is open: headers, in and out, were a fifth of
 * the memory of an idle one.
 */
function beginStream(req: Request, res: Response): Response {
  addHeaders(res, HEADERS);
  replaceHeader(res, 'Cache-Control', 'no-cache, no-transform');
  res.writeHead(200);
  req.headers = {};
  req.rawHeaders = [];
  return res;
}

/** Closes the connection. An answer that waits for its turn on one has none yet that it could close by itself. */
function cutOff(res: Response): void {
  res.req.socket.destroy();
}

/** True once the connection is closed. A function, as the compiler would take a first answer for the last. */
function isGone(res: Response): boolean {
  return isClosed(res);
}
