import type { Clock } from '../../../core/ports/clock.js';
import type { Tool } from '../../../core/ports/tool.js';

const SHOWN_INPUT = 60;

/**
 * The tool `get_time`: `{timezone?}` → `{iso, timezone, text}`. `iso` carries the zone's offset; the default zone is
 * UTC.
 */
export function createGetTime(clock: Pick<Clock, 'now'>): Tool {
  return {
    name: 'get_time',
    description: 'Returns the current date and time, in UTC or in a given time zone.',
    parameters: {
      type: 'object',
      properties: {
        timezone: { type: 'string', description: 'An IANA time zone such as "Europe/Berlin". Absent: UTC.' },
      },
      additionalProperties: false,
    },
    sideEffects: 'none',
    timeoutMs: null,
    run: ({ timezone = 'UTC' }) =>
      new Promise((resolve) => {
        if (typeof timezone !== 'string') throw new Error('timezone must be a string.');
        const zone = timezone.trim();
        resolve({ ...describeTime(clock.now(), zone === '' ? 'UTC' : zone) });
      }),
  };
}

interface TimeDescription {
  readonly iso: string;
  readonly timezone: string;
  readonly text: string;
}

/** @throws Error with a message for the user when the time zone is unknown */
function describeTime(now: number, zone: string): TimeDescription {
  const format = formatIn(zone);
  const resolved = format.resolvedOptions().timeZone;
  // The engine may resolve to an older alias (Asia/Calcutta). Keep the requested name, but correct its case.
  const timeZone = resolved.toLowerCase() === zone.toLowerCase() ? resolved : zone;
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const offset = /[+-]\d\d:\d\d/.exec(parts.get('timeZoneName') ?? '')?.[0] ?? '+00:00';
  const local = new Date(now + offsetMinutes(offset) * 60_000).toISOString().slice(0, 19);
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full' }).format(now);
  const where = timeZone === 'UTC' ? 'UTC' : `${timeZone}, UTC${offset}`;
  return {
    iso: `${local}${offset === '+00:00' ? 'Z' : offset}`,
    timezone: timeZone,
    text: `${local.slice(11)} on ${day} (${where})`,
  };
}

function formatIn(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch (error) {
    const shown = zone.length > SHOWN_INPUT ? `${zone.slice(0, SHOWN_INPUT)}…` : zone;
    const message = `There is no time zone "${shown}". Use an IANA name such as "Europe/Berlin" or "UTC".`;
    throw new Error(message, { cause: error });
  }
}

function offsetMinutes(offset: string): number {
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
