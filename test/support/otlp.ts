import { createServer } from 'node:http';
import { readFields, type Field } from './protobuf.js';

/** A span as a collector gets it. Ids are hex; `parentId` is empty for a root. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0 unset, 2 error. */
  readonly status: number;
  /** Attributes of the service that sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector of traces: takes OTLP over HTTP as protobuf, on a free loopback port. */
export interface Collector {
  readonly url: string;
  /** Every span so far. */
  readonly spans: readonly ReceivedSpan[];
  /** All bytes that came, headers too, as Latin-1 text. */
  bytes(): string;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  let bytes = '';
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      bytes += `${String(req.url)}\n${req.rawHeaders.join('\n')}\n${body.toString('latin1')}`;
      if (req.url === '/v1/traces') spans.push(...readRequest(body));
      res.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the collector has no port');
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    spans,
    bytes: () => bytes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** `ExportTraceServiceRequest`, by the numbers of its fields. */
function readRequest(body: Buffer): ReceivedSpan[] {
  return inside(body, 1).flatMap((resourceSpans) => {
    const resource = inside(resourceSpans, 1).flatMap((part) => inside(part, 1));
    return inside(resourceSpans, 2)
      .flatMap((scopeSpans) => inside(scopeSpans, 2))
      .map((span) => readSpan(span, Object.fromEntries(resource.map(readPair))));
  });
}

function readSpan(bytes: Buffer, resource: Readonly<Record<string, unknown>>): ReceivedSpan {
  const fields = readFields(bytes);
  const hex = (number: number) => bytesOf(fields, number)[0]?.toString('hex') ?? '';
  const [status] = bytesOf(fields, 15);
  return {
    traceId: hex(1),
    id: hex(2),
    parentId: hex(4),
    name: bytesOf(fields, 5)[0]?.toString() ?? '',
    kind: numberOf(fields, 6),
    attributes: Object.fromEntries(bytesOf(fields, 9).map(readPair)),
    status: status === undefined ? 0 : numberOf(readFields(status), 3),
    resource,
  };
}

function readPair(bytes: Buffer): [string, unknown] {
  const fields = readFields(bytes);
  const [value] = bytesOf(fields, 2);
  return [bytesOf(fields, 1)[0]?.toString() ?? '', value === undefined ? null : readValue(value)];
}

/** `AnyValue`. */
function readValue(bytes: Buffer): unknown {
  const [field] = readFields(bytes);
  if (field === undefined) return null;
  const { number, value } = field;
  if (typeof value === 'number') return number === 2 ? value === 1 : value;
  if (number === 1) return value.toString();
  if (number === 4) return value.readDoubleLE();
  if (number === 5) return inside(value, 1).map(readValue);
  throw new Error(`a value of a kind that is not expected: ${String(number)}`);
}

function inside(bytes: Buffer, number: number): Buffer[] {
  return bytesOf(readFields(bytes), number);
}

function bytesOf(fields: readonly Field[], number: number): Buffer[] {
  return fields.flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

function numberOf(fields: readonly Field[], number: number): number {
  const value = fields.find((field) => field.number === number)?.value;
  return typeof value === 'number' ? value : 0;
}
