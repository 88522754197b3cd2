import type { Server } from 'node:http';

/** Listens on a free loopback port, and prints it for the parent process in the first line of stdout. */
export function listen(server: Server): void {
  server.keepAliveTimeout = 0;
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('there is no port');
    process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
  });
}
