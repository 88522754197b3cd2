import { randomUUID } from 'node:crypto';
import { Lane, requestBytes } from './lane.js';
import type { Work } from './measure.js';

/** Sends the same request repeatedly. @throws when a response has another status */
export function repeat(request: Buffer, status = 200): Work {
  return async (lane, _worker, count) => {
    const head = await lane.ask(request);
    if (head.status !== status) throw new Error(`expected ${String(status)}: ${head.text}`);
    count(1);
  };
}

/** Creates a session with a new id. */
export const createSession: Work = async (lane, _worker, count) => {
  const headers = { 'X-Session-Id': randomUUID(), 'Content-Type': 'application/json' };
  const head = await lane.ask(requestBytes('POST', '/api/sessions', headers, '{}'));
  if (head.status !== 200) throw new Error(head.text);
  count(1);
};

/** Sends one request on a connection of its own. Resolves with the head of the response. */
export async function askOnce(
  port: number,
  request: Buffer,
  onBody?: (chunk: Buffer) => void,
): Promise<string> {
  const lane = await Lane.open(port);
  const { text } = await lane.ask(request, onBody);
  lane.close();
  return text;
}

/** Polls the state of a session with its current ETag. @throws when the state has none */
export async function pollUnchanged(port: number, headers: Readonly<Record<string, string>>): Promise<Work> {
  const head = await askOnce(port, requestBytes('GET', '/api/state', headers));
  const tag = /^etag: (.*)$/im.exec(head)?.[1];
  if (tag === undefined) throw new Error('the state has no ETag');
  return repeat(requestBytes('GET', '/api/state', { ...headers, 'If-None-Match': tag }), 304);
}
