import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** A node of a chain whose contracts return what no contract should. */
export interface HostileChain {
  readonly url: string;
  readonly host: string;
  close(): Promise<void>;
}

const WORD = 64;
const CHUNK = 'f'.repeat(65_536);
/** Above what the service takes of one response. */
const ENDLESS_BYTES = 24 * 1_048_576;

/** What the contracts with the last digit 1 to 9 of their address return. */
const ANSWERS: Readonly<Record<string, (id: unknown, res: ServerResponse) => void>> = {
  // 500 offsets that all point at one blob of 200 KB.
  '1': (id, res) => {
    sayResult(res, id, aliasing(500, 200_000));
  },
  // A length that no memory has.
  '2': (id, res) => {
    sayResult(res, id, `0x${word(32)}${word(2n ** 255n)}`);
  },
  // Offsets that lead back to themselves.
  '3': (id, res) => {
    sayResult(res, id, `0x${word(32)}${word(64)}${word(0).repeat(64)}`);
  },
  '4': (id, res) => {
    sayResult(res, id, 'not hexadecimal');
  },
  '5': (id, res) => {
    res.end(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    );
  },
  // A body without end.
  '6': (_, res) => {
    let sent = 0;
    const more = (): void => {
      while (sent < ENDLESS_BYTES && !res.destroyed) {
        sent += CHUNK.length;
        if (!res.write(CHUNK)) {
          res.once('drain', more);
          return;
        }
      }
      res.destroy();
    };
    res.write('{"jsonrpc":"2.0","result":"0x');
    more();
  },
  '7': (id, res) => {
    const error = {
      code: 3,
      message: 'x'.repeat(1_000_000),
      data: `0x08c379a0${word(32)}${word(2n ** 200n)}`,
    };
    res.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
  },
  '8': (_, res) => {
    res.writeHead(307, { location: 'http://127.0.0.1:1/internal' }).end();
  },
  '9': (_, res) => {
    res.socket?.resetAndDestroy();
  },
};

export async function startHostileChain(): Promise<HostileChain> {
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    res.on('error', () => undefined);
    req.on('end', () => {
      const { id, method } = requestOf(body);
      res.setHeader('content-type', 'application/json');
      const contract = /"to":"0x0{39}([1-9])"/i.exec(body)?.[1] ?? '';
      const answer = method === 'eth_call' ? ANSWERS[contract] : undefined;
      if (answer === undefined) sayResult(res, id, method === 'eth_chainId' ? '0x539' : '0x1');
      else answer(id, res);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the chain has no TCP address');
  const host = `127.0.0.1:${String(address.port)}`;
  return {
    url: `http://${host}`,
    host,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function requestOf(body: string): { id: unknown; method: unknown } {
  try {
    const parsed: unknown = JSON.parse(body);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    if (typeof first !== 'object' || first === null) return { id: null, method: null };
    return { id: 'id' in first ? first.id : null, method: 'method' in first ? first.method : null };
  } catch {
    return { id: null, method: null };
  }
}

function sayResult(res: ServerResponse, id: unknown, result: string): void {
  res.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** `bytes[]` whose elements are all the same blob. */
function aliasing(elements: number, bytes: number): string {
  const offsets = word(elements * 32).repeat(elements);
  return `0x${word(32)}${word(elements)}${offsets}${word(bytes)}${'ab'.repeat(bytes)}`;
}

function word(value: number | bigint): string {
  return value.toString(16).padStart(WORD, '0');
}
