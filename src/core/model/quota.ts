import { RefusedError } from './refusal.js';

/** What is counted: requests, started turns, tokens that were billed. */
export type Measure = 'requests' | 'turns' | 'tokens';

/** A bound on what a subject may use within a window of time. */
export interface Quota {
  /** Whose use it is: `session:<id>` or `key:<id>`. */
  readonly subject: string;
  readonly measure: Measure;
  /** The window: its first millisecond since the epoch, and its length. */
  readonly from: number;
  readonly milliseconds: number;
  readonly limit: number;
}

/** What is counted of a use, whether a quota bounds it or not. */
export type Use = Pick<Quota, 'subject' | 'measure' | 'from'> & { readonly amount: number };

/** The limits of one kind of subject; null: none. */
export interface Limits {
  readonly requestsPerMinute: number | null;
  readonly turnsPerDay: number | null;
  readonly tokensPerDay: number | null;
}

/** Limits per session and per App key. */
export interface LimitSettings {
  readonly session: Limits;
  readonly key: Limits;
}

/** Limits that bound nothing. */
export const NO_LIMITS: Limits = { requestsPerMinute: null, turnsPerDay: null, tokensPerDay: null };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Who is counted: the session, and the App key where one opened the App. */
export interface Subjects {
  readonly sessionId: string | null;
  readonly keyId: string | null;
}

/** What bounds a request now. */
export function requestQuotas(settings: LimitSettings, subjects: Subjects, at: number): readonly Quota[] {
  return namesOf(subjects).flatMap(([kind, subject]) =>
    quota(subject, 'requests', settings[kind].requestsPerMinute, at, MINUTE_MS),
  );
}

/** What bounds a new turn now. */
export function turnQuotas(settings: LimitSettings, subjects: Subjects, at: number): readonly Quota[] {
  return namesOf(subjects).flatMap(([kind, subject]) => [
    ...quota(subject, 'turns', settings[kind].turnsPerDay, at, DAY_MS),
    ...quota(subject, 'tokens', settings[kind].tokensPerDay, at, DAY_MS),
  ]);
}

/** The tokens of a turn, on the account of everybody who has a limit of them. */
export function tokenUses(
  settings: LimitSettings,
  subjects: Subjects,
  tokens: number,
  at: number,
): readonly Use[] {
  return turnQuotas(settings, subjects, at)
    .filter(({ measure }) => measure === 'tokens')
    .map(({ subject, measure, from }) => ({ subject, measure, from, amount: tokens }));
}

/** How much the subject of a use may use of its measure; null: as much as it likes. */
export function limitOf(
  settings: LimitSettings,
  { subject, measure }: Pick<Use, 'subject' | 'measure'>,
): number | null {
  const limits = subject.startsWith('key:') ? settings.key : settings.session;
  const names = { requests: 'requestsPerMinute', turns: 'turnsPerDay', tokens: 'tokensPerDay' } as const;
  return limits[names[measure]];
}

/** The refusal when a quota is used up. */
export function overQuota({ subject, measure, from, milliseconds, limit }: Quota, at: number): RefusedError {
  const whose = subject.startsWith('key:') ? 'This App key' : 'This session';
  const window = milliseconds === MINUTE_MS ? 'minute' : 'day (UTC)';
  const seconds = Math.max(1, Math.ceil((from + milliseconds - at) / 1000));
  return new RefusedError(
    'too_many',
    `${whose} has used up its ${String(limit)} ${measure} a ${window}`,
    [],
    seconds,
  );
}

function namesOf({ sessionId, keyId }: Subjects): (readonly [keyof LimitSettings, string])[] {
  return [
    ...(sessionId === null ? [] : [['session', `session:${sessionId}`] as const]),
    ...(keyId === null ? [] : [['key', `key:${keyId}`] as const]),
  ];
}

function quota(
  subject: string,
  measure: Measure,
  limit: number | null,
  at: number,
  milliseconds: number,
): Quota[] {
  if (limit === null) return [];
  return [{ subject, measure, from: Math.floor(at / milliseconds) * milliseconds, milliseconds, limit }];
}
