import { readFileSync } from 'node:fs';

/** Descriptors that are reserved for files, threads and modules of the service itself. */
const OWN = 64;
/** At most this many are reserved for outgoing connections: to the database, models and tool servers. */
const MAX_OUTGOING = 256;

/**
 * How many incoming connections the server may hold without exhausting the file descriptors of the process; null when
 * the limit is unknown.
 * @param limits the text of `/proc/self/limits` (proc(5)), which only Linux has
 */
export function connectionsWithin(limits: string | null): number | null {
  const [, soft] = /^Max open files\s+(\d+)\s/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return null;
  const descriptors = Number(soft);
  return Math.max(1, descriptors - OWN - Math.min(MAX_OUTGOING, Math.floor(descriptors / 4)));
}

/** Reads the limits of this process from the kernel; null on systems other than Linux. */
export function readProcessLimits(): string | null {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return null;
  }
}
