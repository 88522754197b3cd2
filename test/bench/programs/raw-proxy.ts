/** The raw limit of tokens: a proxy that parses the upstream's events and frames them again. It keeps nothing. */
import { createServer } from 'node:http';
import { fieldsOf } from '../json.js';
import { readText } from './bodies.js';
import { listen } from './listen.js';
import { streamTokens } from './upstream-events.js';

const [, , upstream = ''] = process.argv;

const server = createServer((req, res) => {
  void readText(req).then(async (body) => {
    const text = String(fieldsOf(body).text);
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    await streamTokens(upstream, text, (content) => {
      res.write(`data: ${JSON.stringify({ type: 'text', content })}\n\n`);
    });
    res.end('data: {"type":"complete"}\n\n');
  });
});
listen(server);
