import type { Database } from 'better-sqlite3';
import type {
  CountedSurface,
  NoticeClaim,
  SurfaceSeen,
  UsageRow,
  UsageStore,
} from '../../../../core/ports/usage-store.js';
import type { Handlers } from '../steps.js';

interface UsageParams {
  readonly day: number;
  readonly surface: CountedSurface;
  readonly endpoint: string;
  /** Empty: no App key. */
  readonly key_id: string;
  readonly client: string;
  readonly requests: number;
  readonly first_at: number;
  readonly last_at: number;
}

/** Creates the step that adds request counts. */
export function createAddUsage(db: Database): Handlers['addUsage'] {
  const add = db.prepare<[UsageParams]>(
    `INSERT INTO usage (day, surface, endpoint, key_id, client, requests, first_at, last_at)
     VALUES (@day, @surface, @endpoint, @key_id, @client, @requests, @first_at, @last_at)
     ON CONFLICT (day, surface, endpoint, key_id, client) DO UPDATE SET requests = requests + excluded.requests,
       first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`,
  );
  return (rows) => {
    for (const { keyId, firstAt, lastAt, ...row } of rows) {
      add.run({ ...row, key_id: keyId ?? '', first_at: firstAt, last_at: lastAt });
    }
    return undefined;
  };
}

/** Creates the steps that claim notices and record their delivery. */
export function createNoticeWrites(db: Database): Pick<Handlers, 'claimNotice' | 'settleNotice'> {
  const claim = db.prepare<[NoticeClaim]>(
    `INSERT INTO notices (name, owner, claimed_until) VALUES (@name, @owner, @until)
     ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, claimed_until = excluded.claimed_until
     WHERE claimed_until <= @at AND (delivered_at IS NULL OR delivered_at < @deliveredBefore)`,
  );
  const settle = db.prepare<[at: number, name: string, owner: string]>(
    'UPDATE notices SET delivered_at = ?, claimed_until = 0 WHERE name = ? AND owner = ?',
  );
  return {
    claimNotice: (asked) => claim.run(asked).changes > 0,
    settleNotice(name, owner, at) {
      settle.run(at, name, owner);
      return undefined;
    },
  };
}

/** Creates the reads of request counts. */
export function createUsageReads(db: Database): {
  readonly [K in 'readUsage' | 'readUsageClients']: (since: number) => Awaited<ReturnType<UsageStore[K]>>;
} {
  const select = db.prepare<[number], UsageParams>(
    'SELECT * FROM usage WHERE day >= ? ORDER BY day, surface, endpoint, key_id, client',
  );
  const selectSeen = db.prepare<[], SurfaceSeen>(
    `SELECT surface, min(first_at) AS firstAt, max(last_at) AS lastAt FROM usage GROUP BY surface ORDER BY surface`,
  );
  const selectClients = db
    .prepare<[number], string>('SELECT DISTINCT client FROM usage WHERE day >= ? ORDER BY client')
    .pluck();
  return {
    readUsage: db.transaction((since: number) => ({
      rows: select.all(since).map(toUsageRow),
      seen: selectSeen.all(),
    })),
    readUsageClients: (since) => selectClients.all(since),
  };
}

function toUsageRow({ key_id, first_at, last_at, ...row }: UsageParams): UsageRow {
  return { ...row, keyId: key_id === '' ? null : key_id, firstAt: first_at, lastAt: last_at };
}
