/** The API revisions whose requests are counted. */
export type CountedSurface = 'current' | 'legacy' | 'field';

/** The number of requests of one day (UTC) with the same surface, endpoint, key and client. */
export interface UsageRow {
  /** The start of the day, in milliseconds since the epoch. */
  readonly day: number;
  readonly surface: CountedSurface;
  /** Method and route pattern: `GET /api/sessions/:id`. */
  readonly endpoint: string;
  /** The id of the App key that was sent; null: none, or an unknown one. */
  readonly keyId: string | null;
  /** The client's `Origin`, otherwise the product in its `User-Agent`; `none` without either, `other` if there are too many names. */
  readonly client: string;
  readonly requests: number;
  /** The times of the first and the last request, in milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** When a surface was first and last used, within the stored data. */
export interface SurfaceSeen {
  readonly surface: CountedSurface;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A process's claim to deliver a notice. Times are in milliseconds since the epoch. */
export interface NoticeClaim {
  readonly name: string;
  /** The id of the process. */
  readonly owner: string;
  readonly at: number;
  /** Other processes may claim the notice after this time. */
  readonly until: number;
  /** Deliver the notice again if it was delivered before this time; null: deliver it only once. */
  readonly deliveredBefore: number | null;
}

/** Stores counts of requests, and which notice about them was delivered. */
export interface UsageStore {
  /** Adds request counts to the stored ones and widens their time ranges. Safe to call from several nodes at once. */
  addUsage(rows: readonly UsageRow[]): Promise<void>;
  /**
   * Reads the counts of days from `since` on (the start of a day), ordered by day, surface, endpoint, key and client;
   * and when each surface was used, regardless of `since`.
   */
  readUsage(since: number): Promise<{ readonly rows: UsageRow[]; readonly seen: SurfaceSeen[] }>;
  /** Reads the client names on days from `since` on, in order. */
  readUsageClients(since: number): Promise<string[]>;
  /** Claims a notice. False: it was delivered, or another process's claim is current. */
  claimNotice(claim: NoticeClaim): Promise<boolean>;
  /** Records the delivery of a notice that `owner` has claimed. */
  settleNotice(name: string, owner: string, at: number): Promise<void>;
}
