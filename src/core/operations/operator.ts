import type { App } from '../model/app.js';
import type { HealthStatus } from './health.js';
import { keyStatus, mintKey } from '../access/app-keys.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { OpenTurn } from '../ports/overview-store.js';
import { limitOf, type LimitSettings, type Use } from '../model/quota.js';
import type { Recent, RecentFailure, RecentPoint } from './recent-activity.js';
import { RefusedError } from '../model/refusal.js';
import type { SecretTotal } from '../ports/secret-store.js';
import type { Session } from '../model/session.js';
import type { Store, StoredKey, ThreadCursor } from '../ports/store.js';

/** What an operator sees at a glance. What runs and waits is of all nodes, what happened is of this process. */
export interface Overview {
  readonly status: HealthStatus;
  /** Since the epoch, in milliseconds. */
  readonly startedAt: number;
  /** The oldest that run or wait. */
  readonly turns: readonly OpenTurn[];
  readonly counts: Awaited<ReturnType<Store['countTurns']>>;
  /** How many sessions were active in the last hour and day; counted to `most`. */
  readonly sessions: { readonly hour: number; readonly day: number; readonly most: number };
  /** Of the last hour by the minute, or of the last day by the quarter of an hour. */
  readonly points: readonly RecentPoint[];
  /** The newest first, in words for users. */
  readonly failures: readonly (RecentFailure & { readonly error: string | null })[];
}

/** How long ago an overview begins. */
export type Span = 'hour' | 'day';

/** What a subject has used of what it may. */
export type SpentUse = Use & { readonly limit: number | null };

/** What an operator can see and do. */
export interface Operator {
  overview(span: Span): Promise<Overview>;
  /** All sessions, newest activity first. */
  listSessions(page: { limit: number; after: ThreadCursor | null }): Promise<{
    readonly sessions: readonly Session[];
    readonly next: ThreadCursor | null;
  }>;
  /** What was used today, the most first. */
  listUses(): Promise<readonly SpentUse[]>;
  /** How much is kept of each App's secrets, and how much may be, in bytes. */
  secrets(): Promise<{ readonly totals: readonly SecretTotal[]; readonly most: number }>;
  listKeys(): Promise<readonly (StoredKey & { readonly status: ReturnType<typeof keyStatus> })[]>;
  /** Makes a key, which is shown this once. @throws RefusedError `invalid` for Apps that there are not */
  createKey(asked: {
    readonly apps: readonly string[];
    readonly label: string;
    /** How long it holds, in milliseconds; null: for good. */
    readonly lifetime: number | null;
  }): Promise<{ readonly key: string; readonly stored: StoredKey }>;
  /** @throws RefusedError `not_found` */
  revokeKey(id: string): Promise<void>;
}

/** What an operator's view is made of. */
export interface OperatorParts {
  readonly store: Store;
  readonly apps: readonly App[];
  readonly limits: LimitSettings;
  /** As in the settings. */
  readonly maxSecretsBytes: number;
  readonly recent: Recent;
  readonly health: () => Promise<{ readonly status: HealthStatus }>;
  /** Told of every key that was made or revoked. */
  readonly keysChanged: () => void;
  readonly clock: Clock;
  readonly digests: Digests;
  readonly randomBytes: (count: number) => Uint8Array;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MAX_TURNS = 100;
const MAX_COUNTED = 10_000;
const MAX_FAILURES = 20;
const MAX_USES = 100;

/** Puts the operator's view together. */
export function createOperator(parts: OperatorParts): Operator {
  const { store, apps, limits, maxSecretsBytes, recent, keysChanged, clock, digests, randomBytes } = parts;
  return {
    async overview(span) {
      const now = clock.now();
      const [{ status }, turns, counts, hour, day, failures] = await Promise.all([
        parts.health(),
        store.readOpenTurns(MAX_TURNS),
        store.countTurns(),
        store.countSessions(now - HOUR_MS, MAX_COUNTED),
        store.countSessions(now - DAY_MS, MAX_COUNTED),
        Promise.all(recent.failures().slice(0, MAX_FAILURES).map(withWords)),
      ]);
      const points =
        span === 'hour' ? recent.points(HOUR_MS, MINUTE_MS) : recent.points(DAY_MS, 15 * MINUTE_MS);
      const { startedAt } = recent;
      const sessions = { hour, day, most: MAX_COUNTED };
      return { status, startedAt, turns, counts, sessions, points, failures };
    },

    async listSessions({ limit, after }) {
      // One more than asked for shows whether there is more.
      const found = await store.listSessions({ limit: limit + 1, after });
      const sessions = found.slice(0, limit);
      const last = sessions.at(-1);
      const next =
        found.length > limit && last !== undefined ? { activeAt: last.activeAt, id: last.id } : null;
      return { sessions, next };
    },

    async listUses() {
      const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      const uses = await store.readUses(today, MAX_USES);
      return uses.map((use) => ({ ...use, limit: limitOf(limits, use) }));
    },

    async secrets() {
      return { totals: await store.secretTotals(), most: maxSecretsBytes };
    },

    async listKeys() {
      const now = clock.now();
      const keys = await store.listKeys();
      return keys.map((key) => ({ ...key, status: keyStatus(key, now) }));
    },

    async createKey({ apps: names, label, lifetime }) {
      const unknown = names.filter((name) => !apps.some((app) => app.name === name));
      if (names.length === 0 || unknown.length > 0) {
        const message = `apps must be some of ${apps.map(({ name }) => name).join(', ')}`;
        throw new RefusedError('invalid', message, [{ path: 'apps', message }]);
      }
      const expiresAt = lifetime === null ? null : clock.now() + lifetime;
      const minted = mintKey({ apps: names, label, expiresAt, randomBytes, clock, digests });
      await store.saveKey(minted.stored);
      keysChanged();
      return minted;
    },

    async revokeKey(id) {
      const found = await store.revokeKey(id, clock.now());
      if (!found) throw new RefusedError('not_found', 'There is no such key');
      keysChanged();
    },
  };

  async function withWords(failure: RecentFailure): Promise<RecentFailure & { error: string | null }> {
    const found = await store.readTurn(failure.sessionId, failure.turnId);
    return { ...failure, error: found?.turn.error ?? null };
  }
}
