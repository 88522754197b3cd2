import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Gate } from './gate.js';
import { portOf } from './answering.js';

/** An HTTP proxy before an EVM node, whose responses a test can hold. */
export interface NodeProxy {
  readonly url: string;
  /** The methods that it answers as a node does that lacks them. */
  readonly lacking: Set<string>;
  /** The methods of all requests so far. */
  readonly methods: readonly string[];
  /** Holds the responses to a method until `release`. `asked` resolves with the first request. */
  hold(method: string): { readonly asked: Promise<void>; release(): void };
  close(): Promise<void>;
}

/** Starts a proxy before the node at `target`. */
export async function startNodeProxy(target: string): Promise<NodeProxy> {
  const held = new Map<string, { readonly asked: Gate; readonly released: Gate }>();
  const lacking = new Set<string>();
  const methods: string[] = [];

  async function answer(req: IncomingMessage): Promise<string> {
    const body = await text(req);
    const { id, method } = JSON.parse(body) as { id: unknown; method: string };
    methods.push(method);
    const hold = held.get(method);
    hold?.asked.open();
    await hold?.released.passed;
    if (lacking.has(method)) {
      const error = { code: -32_601, message: 'the method does not exist' };
      return JSON.stringify({ jsonrpc: '2.0', id, error });
    }
    const headers = { 'Content-Type': 'application/json' };
    return (await fetch(target, { method: 'POST', headers, body })).text();
  }

  const server = createServer((req, res) => {
    answer(req).then(
      (json) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(json),
      () => res.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${String(portOf(server))}`,
    lacking,
    methods,
    hold(method) {
      const [asked, released] = [new Gate(), new Gate()];
      held.set(method, { asked, released });
      return {
        asked: asked.passed,
        release() {
          held.delete(method);
          released.open();
        },
      };
    },
    async close() {
      for (const { released } of held.values()) released.open();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
