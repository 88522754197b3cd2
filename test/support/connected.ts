import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { portOf } from './answering.js';

/** A server with one client. */
export interface Connected {
  readonly client: Socket;
  /** All that the client has got, a character for each byte. */
  received(): string;
  /** Ends both. */
  close(): Promise<void>;
}

/** Has a server listen, and a client connect to it. */
export async function connected(server: Server): Promise<Connected> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(portOf(server), '127.0.0.1');
  let text = '';
  client.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  return {
    client,
    received: () => text,
    async close() {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
