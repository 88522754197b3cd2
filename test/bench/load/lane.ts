import { connect, type Socket } from 'node:net';

/** A request as bytes. */
export function requestBytes(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): Buffer {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const length =
    body === '' && method === 'GET' ? '' : `Content-Length: ${String(Buffer.byteLength(body))}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`);
}

/** The head of an answer, and what is known of its body. */
export interface Head {
  readonly status: number;
  readonly text: string;
}

/** How an answer is being read. */
interface Reading {
  readonly onBody: ((chunk: Buffer) => void) | undefined;
  readonly resolve: (head: Head) => void;
  readonly reject: (error: Error) => void;
}

const LAST_CHUNK = '0\r\n\r\n';

/** Sends requests, one at a time. */
export interface Asker {
  ask(request: Buffer, onBody?: (chunk: Buffer) => void): Promise<Head>;
  close(): void;
}

/** How requests are spread over nodes: to the next node, or each session to a node of its own, as proxies do. */
export type Spread = 'next' | 'session';

const SESSION = Buffer.from('X-Session-Id: ');

/**
 * Opens a connection to each port, and spreads requests over them.
 * @param first the index of the port that receives the first request, if they go to the next node
 */
export async function openLanes(ports: readonly number[], first: number, spread: Spread): Promise<Asker> {
  const lanes = await Promise.all(ports.map((port) => Lane.open(port)));
  let next = first;
  return {
    async ask(request, onBody) {
      const index = (spread === 'next' ? next++ : hashOfSession(request)) % lanes.length;
      const [port, opened] = [ports[index], lanes[index]];
      if (port === undefined || opened === undefined) throw new Error('there is no node');
      // A server closes a connection that was idle for long, as those of other sessions' nodes are on a slow machine.
      const lane = opened.isClosed ? await Lane.open(port) : opened;
      lanes[index] = lane;
      return lane.ask(request, onBody);
    },
    close() {
      for (const lane of lanes) lane.close();
    },
  };
}

/** A number for the session of a request, an evenly spread one: session ids are random. */
function hashOfSession(request: Buffer): number {
  const at = request.indexOf(SESSION) + SESSION.length;
  return Number.parseInt(request.toString('latin1', at, at + 8), 16);
}

/**
 * One kept connection with one request at a time, as lean as can be: the load must not be what is measured. It looks at
 * the status, at `Content-Length`, and, where there is none, for the last chunk of a chunked body.
 */
export class Lane implements Asker {
  readonly #socket: Socket;
  #reading: Reading | undefined;
  /** Bytes of the head until it is complete. */
  #pending: Buffer | undefined;
  #head: Head | undefined;
  /** Bytes of the body still to come; -1: chunked. */
  #left = 0;
  #tail = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#take(chunk);
    });
    const broken = (error?: Error): void => {
      this.#reading?.reject(error ?? new Error('the server closed the connection'));
      this.#reading = undefined;
    };
    socket.on('error', broken).on('close', () => {
      broken();
    });
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  static open(port: number): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', reject).once('connect', () => {
        resolve(new Lane(socket));
      });
    });
  }

  /**
   * Sends a request. Resolves when its answer is complete. @param onBody gets the bytes of the body as they come, chunk
   * marks and all
   */
  ask(request: Buffer, onBody?: (chunk: Buffer) => void): Promise<Head> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) {
        reject(new Error('the server closed the connection'));
        return;
      }
      this.#reading = { onBody, resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#head !== undefined) {
      this.#body(chunk);
      return;
    }
    const bytes = this.#pending === undefined ? chunk : Buffer.concat([this.#pending, chunk]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) {
      this.#pending = bytes;
      return;
    }
    this.#pending = undefined;
    const text = bytes.toString('latin1', 0, end);
    this.#head = { status: Number(text.slice(9, 12)), text };
    this.#left = bodyLength(this.#head);
    this.#tail = '';
    const rest = bytes.subarray(end + 4);
    if (this.#left === 0) this.#done();
    else if (rest.length > 0) this.#body(rest);
  }

  #body(chunk: Buffer): void {
    this.#reading?.onBody?.(chunk);
    if (this.#left >= 0) {
      this.#left -= chunk.length;
      if (this.#left <= 0) this.#done();
      return;
    }
    const tail = this.#tail + chunk.toString('latin1', Math.max(chunk.length - LAST_CHUNK.length, 0));
    this.#tail = tail.slice(-LAST_CHUNK.length);
    if (this.#tail === LAST_CHUNK) this.#done();
  }

  #done(): void {
    const [reading, head] = [this.#reading, this.#head];
    this.#reading = undefined;
    this.#head = undefined;
    if (head !== undefined) reading?.resolve(head);
  }
}

function bodyLength({ status, text }: Head): number {
  if (status === 304 || status === 204) return 0;
  const length = /^content-length: (\d+)/im.exec(text)?.[1];
  return length === undefined ? -1 : Number(length);
}
