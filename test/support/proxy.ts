import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy before a server, which can fail in the ways of a network. */
export interface Proxy {
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Keeps all connections, takes new ones, and passes nothing on. */
  stall(): void;
  /** Works again, with what was held back. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy before a port of this machine, on a port that is free. */
export async function startProxy(target: number, at = 0): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let isStalled = false;

  function keep(socket: Socket, other: Socket): void {
    sockets.add(socket);
    if (isStalled) socket.pause();
    socket.on('data', (chunk) => {
      if (!other.destroyed) other.write(chunk);
    });
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  }

  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    keep(near, far);
    keep(far, near);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(at);
  const { port } = addressOf(server.address());

  async function cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (server.listening) {
        server.close(() => {
          resolve();
        });
      } else resolve();
    });
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    cut,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    async restore() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
    close: cut,
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address;
}
