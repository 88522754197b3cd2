import type { IncomingMessage } from 'node:http';

/** The body of a request as text. */
export function readText(req: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.once('end', () => {
      resolve(body);
    });
  });
}
