/** The raw limit of requests: bare `node:http` that answers a small JSON object, or 304 to a client that has it. */
import { createServer } from 'node:http';
import { listen } from './listen.js';

const TAG = 'W/"raw-1"';

const server = createServer((req, res) => {
  if (req.headers['if-none-match'] === TAG) {
    res.writeHead(304, { ETag: TAG }).end();
    return;
  }
  const body = JSON.stringify({ status: 'ok', version: '0.0.0', surfaces: ['current', 'legacy'] });
  res.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ETag: TAG,
  });
  res.end(body);
});
listen(server);
