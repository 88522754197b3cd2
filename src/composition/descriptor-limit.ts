import { readFileSync } from 'node:fs';

/** Descriptors for files, threads and modules of the service itself. */
const OWN = 64;
/** At most so many are kept for connections that the service opens: to the database, to models and to tool servers. */
const MAX_OUTGOING = 256;

/**
 * How many connections the server may hold, so that the process keeps descriptors for its own work; null where the
 * limit is not known.
 * @param limits the text of `/proc/self/limits` (proc(5)); Linux alone has it
 */
export function connectionsWithin(limits: string | null): number | null {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return null;
  const descriptors = Number(soft);
  return Math.max(1, descriptors - OWN - Math.min(MAX_OUTGOING, Math.floor(descriptors / 4)));
}

/** The limits of this process as the kernel states them; null where it does not. */
export function readProcessLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return null;
  }
}
