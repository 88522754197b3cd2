/** The raw limit of idle streams and of fan-out: `GET` opens a stream, `PATCH` writes one event to all of them. */
import { createServer, type ServerResponse } from 'node:http';
import { fieldsOf } from '../json.js';
import { readText } from './bodies.js';
import { listen } from './listen.js';

const open = new Set<ServerResponse>();
let id = 0;

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }).flushHeaders();
    open.add(res);
    res.once('close', () => open.delete(res));
    return;
  }
  void readText(req).then((body) => {
    const { title } = fieldsOf(body);
    id++;
    const data = JSON.stringify({
      type: 'title_changed',
      session_id: req.headers['x-session-id'],
      new_title: title,
    });
    const frame = Buffer.from(`id: ${String(id)}\ndata: ${data}\n\n`);
    for (const stream of open) stream.write(frame);
    res.end('{}');
  });
});
listen(server);
