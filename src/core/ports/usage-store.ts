/** The API revisions that requests are counted of. */
export type CountedSurface = 'current' | 'legacy';

/** Requests of one day (UTC) that have everything else in common. */
export interface UsageRow {
  /** The day's first millisecond since the epoch. */
  readonly day: number;
  readonly surface: CountedSurface;
  /** Method and pattern: `GET /api/sessions/:id`. */
  readonly endpoint: string;
  /** The App key that was sent; null: none that is known. */
  readonly keyId: string | null;
  /** The product that the client calls itself, `none` without a name, `other` when there are too many names. */
  readonly client: string;
  readonly requests: number;
  /** The times of the first and of the last one, in milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** When a surface was first and last used, of all that is kept. */
export interface SurfaceSeen {
  readonly surface: CountedSurface;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Where counts of requests are kept. */
export interface UsageStore {
  /** Adds counts to those that are there: requests add up, times widen. Several nodes may do it at once. */
  addUsage(rows: readonly UsageRow[]): Promise<void>;
  /**
   * The counts of days from `since` on (a day's first millisecond), by day, surface, endpoint, key and client; and when
   * each surface was used at all.
   */
  readUsage(since: number): Promise<{ readonly rows: UsageRow[]; readonly seen: SurfaceSeen[] }>;
  /** The names of clients on days from `since` on, in order. */
  readUsageClients(since: number): Promise<string[]>;
}
