import { RefusedError } from './refusal.js';

/** What a quota counts: requests, started turns, or billed tokens. */
export type Measure = 'requests' | 'turns' | 'tokens';

/** A bound on what a subject may use within a window of time. */
export interface Quota {
  /** `session:<id>` or `key:<id>`; `nonce:<digest>` for the single use of a sign-in nonce. */
  readonly subject: string;
  readonly measure: Measure;
  /** The start of the window in milliseconds since the epoch. */
  readonly from: number;
  readonly milliseconds: number;
  readonly limit: number;
}

/** An amount that a subject has used in a window. */
export type Use = Pick<Quota, 'subject' | 'measure' | 'from'> & { readonly amount: number };

/** The limits of one kind of subject; null: unlimited. */
export interface Limits {
  readonly requestsPerMinute: number | null;
  readonly turnsPerDay: number | null;
  readonly tokensPerDay: number | null;
}

export interface LimitSettings {
  readonly session: Limits;
  readonly key: Limits;
}

export const NO_LIMITS: Limits = { requestsPerMinute: null, turnsPerDay: null, tokensPerDay: null };

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The subjects that a request counts for: the session, and the App key if one was needed. */
export interface Subjects {
  readonly sessionId: string | null;
  readonly keyId: string | null;
}

/** Returns the quotas that apply to a request. */
export function requestQuotas(settings: LimitSettings, subjects: Subjects, at: number): readonly Quota[] {
  return namesOf(subjects).flatMap(([kind, subject]) =>
    quota(subject, 'requests', settings[kind].requestsPerMinute, at, MINUTE_MS),
  );
}

/** Returns the quotas that apply to a new turn. */
export function turnQuotas(settings: LimitSettings, subjects: Subjects, at: number): readonly Quota[] {
  return namesOf(subjects).flatMap(([kind, subject]) => [
    ...quota(subject, 'turns', settings[kind].turnsPerDay, at, DAY_MS),
    ...quota(subject, 'tokens', settings[kind].tokensPerDay, at, DAY_MS),
  ]);
}

/** Returns the uses to record for a turn's tokens, for each subject that has a token limit. */
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

/** Returns the configured limit for the subject and measure of a use; null: unlimited. */
export function limitOf(
  settings: LimitSettings,
  { subject, measure }: Pick<Use, 'subject' | 'measure'>,
): number | null {
  const limits = subject.startsWith('key:') ? settings.key : settings.session;
  const names = { requests: 'requestsPerMinute', turns: 'turnsPerDay', tokens: 'tokensPerDay' } as const;
  return limits[names[measure]];
}

/** Creates the error for a quota that is used up, with the seconds until its window ends. */
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
