import { nameOf, type LegacyUser, type UsageReport } from '../../core/operations/usage-report.js';

/** The report on the use of the legacy surface as JSON. Times are ISO 8601. */
export function reportJson({ at, days, countingSince, lastUsedAt, users, history, verdict }: UsageReport) {
  return {
    at: time(at),
    days,
    verdict,
    counting_since: timeOrNull(countingSince),
    last_used_at: timeOrNull(lastUsedAt),
    users: users.map((user) => ({
      name: nameOf(user),
      client: user.client,
      key: user.key,
      requests: user.requests,
      first_at: time(user.firstAt),
      last_at: time(user.lastAt),
      endpoints: user.endpoints,
    })),
    history: history.map(({ day, current, legacy }) => ({ day: time(day).slice(0, 10), current, legacy })),
  };
}

const COLUMNS = ['client', 'key_id', 'key_label', 'endpoint', 'requests', 'first_at', 'last_at'];

/**
 * The users of the report as CSV (RFC 4180) with a header: a line for each client and endpoint, with the times of the
 * client's first and last request.
 */
export function reportCsv({ users }: UsageReport): string {
  return [COLUMNS, ...users.flatMap(linesOf)].map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

function linesOf({ client, key, firstAt, lastAt, endpoints }: LegacyUser): string[][] {
  return endpoints.map(({ endpoint, requests }) => [
    ...[client, key?.id ?? '', key?.label ?? '', endpoint, String(requests), time(firstAt), time(lastAt)],
  ]);
}

/** Spreadsheets run fields that begin with these characters as formulas: a quote in front makes them text. */
function csvField(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : time(at);
}
