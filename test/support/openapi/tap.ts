import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RootSurface, SurfaceName } from '../../../src/surfaces/index.js';
import { findViolations } from './conformance.js';

/** All that a server answers, held against the documents. */
export interface Tap {
  /** How many answers were looked at. */
  readonly count: number;
  /** Also looks at the answers that are still open. @throws Error when any answer was not as documented */
  verify(): void;
}

/**
 * Looks at everything that a server writes, whatever client it is for.
 * @param exposed the surfaces that it serves
 * @param root who serves `/api`
 */
export function tapAnswers(
  server: Server,
  exposed: readonly SurfaceName[],
  root: RootSurface = 'merged',
): Tap {
  const violations: string[] = [];
  const open = new Map<ServerResponse, () => void>();
  let count = 0;
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const chunks = collect(res, ['write', 'end']);
    const { method = '', url = '', headers } = req;
    const look = () => {
      if (!open.delete(res) || !res.headersSent) return;
      count++;
      violations.push(
        ...findViolations(
          exposed,
          {
            request: { method, url, headers },
            status: res.statusCode,
            headers: headersOf(Reflect.get(res, '_header')),
            body: chunks.join(''),
            isWhole: res.writableEnded,
          },
          root,
        ),
      );
    };
    open.set(res, look);
    res.once('close', look);
  });
  server.prependListener('clientError', (_error, socket) => {
    const chunks = collect(socket, ['end']);
    // After the server's own listener, which answers at once.
    queueMicrotask(() => {
      if (chunks.length === 0) return;
      count++;
      violations.push(...findViolations(exposed, parse(chunks.join('')), root));
    });
  });
  return {
    get count() {
      return count;
    },
    verify() {
      for (const look of open.values()) look();
      const found = [...new Set(violations)];
      if (found.length === 0) return;
      throw new Error(
        `${String(found.length)} answers are not as documented:\n${found.slice(0, 10).join('\n')}`,
      );
    },
  };
}

/**
 * The headers as they went out: some are written without having been set on the answer, and a short body goes out
 * behind them.
 */
function headersOf(head: unknown): Readonly<Record<string, unknown>> {
  if (typeof head !== 'string') throw new Error('this version of Node keeps what it writes in another place');
  const [lines = ''] = head.split('\r\n\r\n', 1);
  return parseLines(lines.split('\r\n').slice(1));
}

/** Keeps what is passed to these methods of a stream. */
function collect(stream: ServerResponse | Duplex, methods: readonly ('write' | 'end')[]): readonly string[] {
  const chunks: string[] = [];
  for (const name of methods) {
    const method: (...args: never[]) => unknown = stream[name].bind(stream);
    Object.defineProperty(stream, name, {
      configurable: true,
      writable: true,
      value: (...args: readonly unknown[]): unknown => {
        const [chunk] = args;
        if (typeof chunk === 'string') chunks.push(chunk);
        else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk).toString());
        return Reflect.apply(method, undefined, args);
      },
    });
  }
  return chunks;
}

/** A whole answer as text. */
function parse(text: string): Parameters<typeof findViolations>[1] {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [line = '', ...lines] = head.split('\r\n');
  const body = rest.join('\r\n\r\n');
  return {
    request: undefined,
    status: Number(line.split(' ')[1]),
    headers: parseLines(lines),
    body,
    // The response to a broken HEAD request has no body.
    isWhole: body !== '',
  };
}

/** Header lines by their names in lower case. */
function parseLines(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf(':');
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
      }),
  );
}
