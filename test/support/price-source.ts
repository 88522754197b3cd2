import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A price source over real sockets that answers as CoinGecko's `/simple/price` does, and counts its requests. */
export interface PriceSource {
  /** With a path, as a configuration gives it. */
  readonly baseUrl: string;
  /** Every request so far. */
  readonly requests: readonly {
    readonly url: URL;
    readonly key: string | undefined;
    readonly authorization: string | undefined;
  }[];
  /** Dollars by id; an id that is not there has no price. */
  readonly prices: Map<string, number>;
  /** Answers in another way until it is undefined again. */
  instead: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** Resolves with the response of the next request. */
  nextRequest(): Promise<ServerResponse>;
  close(): Promise<void>;
}

/** @param updatedAt when all prices were made, in seconds since the epoch */
export async function startPriceSource(updatedAt: number): Promise<PriceSource> {
  const requests: PriceSource['requests'][number][] = [];
  const prices = new Map<string, number>();
  const waiting: ((res: ServerResponse) => void)[] = [];
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://source');
    requests.push({
      url,
      key: req.headers['x-cg-demo-api-key']?.toString(),
      authorization: req.headers.authorization,
    });
    for (const resolve of waiting.splice(0)) resolve(res);
    if (source.instead !== undefined) {
      source.instead(req, res);
      return;
    }
    const currency = url.searchParams.get('vs_currencies') ?? '';
    const found = (url.searchParams.get('ids') ?? '').split(',').flatMap((id) => {
      const price = prices.get(id);
      return price === undefined ? [] : [[id, { [currency]: price, last_updated_at: updatedAt }]];
    });
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Object.fromEntries(found)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const source: PriceSource = {
    baseUrl: `http://127.0.0.1:${String(address.port)}/api/v3/`,
    requests,
    prices,
    instead: undefined,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return source;
}
