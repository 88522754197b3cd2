import type { App } from '../model/app.js';
import type { HealthStatus } from './health.js';
import { keyStatus, mintKey } from '../access/app-keys.js';
import type { Clock } from '../ports/clock.js';
import type { Digests } from '../ports/digests.js';
import type { OpenTurn, WorkTotal } from '../ports/overview-store.js';
import { limitOf, type LimitSettings, type Use } from '../model/quota.js';
import type { Recent, RecentPoint } from './recent-activity.js';
import { findSessions, type FoundSessions } from './session-search.js';
import { findTexts, type FoundTexts } from './message-search.js';
import type { Message } from '../model/message.js';
import { RefusedError } from '../model/refusal.js';
import type { SecretTotal } from '../ports/secret-store.js';
import type { Session } from '../model/session.js';
import type { Store, StoredKey, ThreadCursor } from '../ports/store.js';

/**
 * The operator's dashboard. It covers all nodes.
 */
export interface Overview {
  readonly status: HealthStatus;
  /** When this process started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The oldest running and queued turns. */
  readonly turns: readonly OpenTurn[];
  readonly counts: Awaited<ReturnType<Store['countTurns']>>;
  /** How many sessions were active in the last hour and the last day. Counting stops at `most`. */
  readonly sessions: { readonly hour: number; readonly day: number; readonly most: number };
  /** The last hour in steps of a minute, or the last day in steps of 15 minutes. */
  readonly points: readonly RecentPoint[];
  /** Newest first. `error` is the message shown to the user. */
  readonly failures: Awaited<ReturnType<Store['readFailures']>>;
}

/** The time that an overview covers. */
export type Span = 'hour' | 'day';

/** What a subject has used of its quota; `limit` null: unlimited. */
export type SpentUse = Use & { readonly limit: number | null };

/** The operations of the operator's view. */
export interface Operator {
  overview(span: Span): Promise<Overview>;
  /**
   * Lists all sessions, latest activity first, or those that match a query.
   * @param page `query`: see `findSessions`; empty: all
   */
  listSessions(page: {
    readonly query: string;
    readonly limit: number;
    readonly after: ThreadCursor | null;
  }): Promise<FoundSessions>;
  /**
   * Finds sessions by the text of their messages, latest activity first.
   * @param page `text`: see `findTexts`
   */
  searchMessages(page: {
    readonly text: string;
    readonly limit: number;
    readonly after: ThreadCursor | null;
  }): Promise<FoundTexts>;
  /** Reads a session. @throws RefusedError `not_found` */
  readSession(id: string): Promise<Session>;
  /**
   * Reads the last `limit` records before the record `before`, in order.
   * @throws RefusedError `invalid` when the session has no such record
   */
  readMessages(
    id: string,
    page: { readonly limit: number; readonly before: string | null },
  ): Promise<{ readonly messages: readonly Message[]; readonly hasMore: boolean }>;
  /** Lists today's quota use, largest first. */
  listUses(): Promise<readonly SpentUse[]>;
  /** Sums the turns and tokens of the last `days` days (UTC), today included, by App and key: most turns first. */
  listWork(days: number): Promise<readonly (WorkTotal & { readonly keyLabel: string | null })[]>;
  /** Returns the size of the stored secrets of each App and the limit for one App, in bytes. */
  secrets(): Promise<{ readonly totals: readonly SecretTotal[]; readonly most: number }>;
  listKeys(): Promise<readonly (StoredKey & { readonly status: ReturnType<typeof keyStatus> })[]>;
  /**
   * Creates an App key. The key itself is returned only this once.
   * @throws RefusedError `invalid` for unknown Apps
   */
  createKey(asked: {
    readonly apps: readonly string[];
    readonly label: string;
    /** How long the key is valid, in milliseconds; null: it does not expire. */
    readonly lifetime: number | null;
  }): Promise<{ readonly key: string; readonly stored: StoredKey }>;
  /** @throws RefusedError `not_found` */
  revokeKey(id: string): Promise<void>;
}

/** The dependencies of the operator's view. */
export interface OperatorParts {
  readonly store: Store;
  readonly apps: readonly App[];
  readonly limits: LimitSettings;
  /** The limit of an App's stored secrets, in bytes. */
  readonly maxSecretsBytes: number;
  readonly recent: Recent;
  readonly health: () => Promise<{ readonly status: HealthStatus }>;
  /** Called after a key was created or revoked. */
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
        recent.flush().then(() => store.readFailures(MAX_FAILURES)),
      ]);
      const points = await (span === 'hour'
        ? recent.points(HOUR_MS, MINUTE_MS)
        : recent.points(DAY_MS, 15 * MINUTE_MS));
      const { startedAt } = recent;
      const sessions = { hour, day, most: MAX_COUNTED };
      return { status, startedAt, turns, counts, sessions, points, failures };
    },

    async listSessions({ query, limit, after }) {
      if (query !== '') return findSessions(query, { store, digests, limit, after });
      // The extra row shows whether there is another page.
      const found = await store.listSessions({ limit: limit + 1, after });
      const sessions = found.slice(0, limit);
      const last = sessions.at(-1);
      const next =
        found.length > limit && last !== undefined ? { activeAt: last.activeAt, id: last.id } : null;
      return { sessions, next };
    },

    searchMessages: ({ text, limit, after }) => findTexts(text, { store, clock, limit, after }),

    async readSession(id) {
      const tail = await store.loadTail(id, 0);
      if (tail === 'deleted' || tail === 'unknown')
        throw new RefusedError('not_found', 'There is no such session');
      return tail.session;
    },

    async readMessages(id, page) {
      const found = await store.readMessages(id, page);
      if (found !== 'unknown_message') return found;
      const message = 'before must be the id of a message of this session';
      throw new RefusedError('invalid', message, [{ path: 'before', message }]);
    },

    async listUses() {
      const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      const uses = await store.readUses(today, MAX_USES);
      return uses.map((use) => ({ ...use, limit: limitOf(limits, use) }));
    },

    async listWork(days) {
      const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
      await recent.flush();
      const [totals, keys] = await Promise.all([
        store.readWork(today - (days - 1) * DAY_MS),
        store.listKeys(),
      ]);
      const labels = new Map(keys.map(({ id, label }) => [id, label]));
      return totals.map((total) => ({
        ...total,
        keyLabel: total.keyId === null ? null : (labels.get(total.keyId) ?? ''),
      }));
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
}
