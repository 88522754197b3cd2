import { once } from 'node:events';
import { createServer } from 'node:http';

const DOLLARS = { bitcoin: 64250.5 };

/** Starts a price source that answers `/simple/price` as CoinGecko does, on a free port. */
export async function startPriceSource() {
  const server = createServer((request, response) => {
    const ids = new URL(request.url, 'http://source').searchParams.get('ids')?.split(',') ?? [];
    const now = Math.floor(Date.now() / 1000);
    const known = ids.filter((id) => id in DOLLARS);
    const prices = known.map((id) => [id, { usd: DOLLARS[id], last_updated_at: now }]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Object.fromEntries(prices)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async end() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
