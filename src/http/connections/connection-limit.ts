import type { Server } from 'node:http';
import type { Log } from '../../core/ports/log.js';

/** After so many milliseconds without a refused connection, the next refusal is logged again. */
const QUIET_MS = 60_000;

/**
 * Has a server refuse connections, instead of ending the process, while descriptors are used up: those above `max` are
 * closed at once, and so are those that the system cannot accept. Logs the first refusal, and the first connection
 * after a minute without one.
 * @param max how many connections may be open at a time; null: no limit
 * @param now a time in milliseconds that is never set back
 */
export function limitConnections(
  server: Server,
  { max, log, now = () => performance.now() }: { max: number | null; log: Log; now?: () => number },
): void {
  if (max !== null) server.maxConnections = max;
  let refusedAt: number | undefined;
  const refused = (reason: string): void => {
    if (refusedAt === undefined) log.warn({ reason, max }, 'refused connections');
    refusedAt = now();
  };
  server.on('drop', () => {
    refused('too many connections');
  });
  server.on('error', (error: NodeJS.ErrnoException) => {
    // Before the server listens, the error belongs to whoever called `listen`.
    if (server.listening) refused(error.code ?? error.message);
  });
  server.on('connection', () => {
    if (refusedAt === undefined || now() - refusedAt < QUIET_MS) return;
    refusedAt = undefined;
    log.info({}, 'accepted connections again');
  });
}
