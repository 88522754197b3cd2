import type { Server } from 'node:http';
import type { Log } from '../../core/ports/log.js';

/** Time without a refused connection, in milliseconds, after which the next refusal is logged again. */
const QUIET_MS = 60_000;

/**
 * Makes a server refuse connections instead of crashing when file descriptors run out: closes connections above `max`,
 * and keeps running when the system cannot accept one. Logs the first refusal, and the first accepted connection after
 * a minute without refusals.
 * @param max maximum number of open connections; null: no limit
 * @param now a monotonic clock, in milliseconds
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
    // Until the server listens, the caller of `listen` handles its errors.
    if (server.listening) refused(error.code ?? error.message);
  });
  server.on('connection', () => {
    if (refusedAt === undefined || now() - refusedAt < QUIET_MS) return;
    refusedAt = undefined;
    log.info({}, 'accepted connections again');
  });
}
