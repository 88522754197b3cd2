import type { PendingRequest } from '../../../client/pending.js';
import { Observable } from '../../parts/observable.js';
import { isDenied, readStored, store, storedNames } from '../../parts/storage.js';
import { isObject } from './objects.js';

/** What came of a request. */
export type Outcome =
  /** `proof`: the hash of the transaction, or the signature until it is reported. */
  | { readonly status: 'success'; readonly proof: string }
  /** `error`: why nothing was signed. */
  | { readonly status: 'failed'; readonly error: string };

/** What this browser keeps of a request from the moment when its wallet is asked. */
export interface KeptRequest {
  readonly sessionId: string;
  readonly id: number;
  readonly kind: PendingRequest['kind'];
  readonly chainId: number;
  /** What it does, in one line. */
  readonly title: string;
  /** Null while the wallet is asked, or if its response was lost. */
  readonly outcome: Outcome | null;
  /** When the service got the outcome, in milliseconds since the epoch; null: not yet. */
  readonly reportedAt: number | null;
  /** When the wallet was asked, in milliseconds since the epoch. */
  readonly at: number;
}

const PREFIX = 'diptych.wallet-request.';
/** How long a reported outcome is kept. Others are kept until they are reported: the wallet must not be asked twice. */
const KEPT_MS = 14 * 24 * 60 * 60_000;

/** Returns the key of a request in the storage; also the name of its lock. */
export function keyOf(sessionId: string, id: number): string {
  return `${PREFIX}${sessionId}.${String(id)}`;
}

/**
 * The kept requests of all sessions, by key. They are in `localStorage`, so that a closed tab loses no outcome, and all
 * tabs see them.
 */
export class Records extends Observable<ReadonlyMap<string, KeptRequest>> {
  /** Records that are in memory alone: outcomes that a full storage has no room for, and all where it is denied. */
  readonly #unsaved = new Map<string, KeptRequest>();

  constructor() {
    super(new Map());
    const oldest = Date.now() - KEPT_MS;
    for (const key of storedNames('browser', PREFIX)) {
      const record = this.read(key);
      const isReported = record?.reportedAt !== null;
      if (isReported && (record?.at ?? 0) < oldest) store('browser', key, '');
    }
    this.#reload();
    addEventListener('storage', ({ key }) => {
      if (key === null || key.startsWith(PREFIX)) this.#reload();
    });
  }

  /** Reads a kept request from the storage, which another tab may just have changed. */
  read(key: string): KeptRequest | null {
    const text = readStored('browser', key);
    return this.#unsaved.get(key) ?? (text === null ? null : readRecord(text));
  }

  /** True if a reload loses the records. */
  get areLost(): boolean {
    return isDenied('browser');
  }

  /** @throws Error in words for the user if a full storage cannot keep that a wallet is about to be asked */
  put(key: string, record: KeptRequest): void {
    if (store('browser', key, JSON.stringify(record))) this.#unsaved.delete(key);
    else if (record.outcome !== null || this.areLost) this.#unsaved.set(key, record);
    else
      throw new Error(
        'The storage of this browser is full: the page could not keep what it asks the wallet.',
      );
    this.#reload();
  }

  remove(key: string): void {
    store('browser', key, '');
    this.#unsaved.delete(key);
    this.#reload();
  }

  #reload(): void {
    const keys = new Set([...storedNames('browser', PREFIX), ...this.#unsaved.keys()]);
    const kept = [...keys].flatMap((key): [string, KeptRequest][] => {
      const record = this.read(key);
      return record === null ? [] : [[key, record]];
    });
    this.set(new Map(kept));
  }
}

function readRecord(text: string): KeptRequest | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Checks the fields that decide what happens: an earlier version of this page may have written others. */
function isRecord(value: unknown): value is KeptRequest {
  if (!isObject(value) || !('outcome' in value)) return false;
  const { outcome } = value;
  return (
    'sessionId' in value &&
    typeof value.sessionId === 'string' &&
    'at' in value &&
    typeof value.at === 'number' &&
    'reportedAt' in value &&
    (value.reportedAt === null || typeof value.reportedAt === 'number') &&
    'id' in value &&
    Number.isSafeInteger(value.id) &&
    'kind' in value &&
    (value.kind === 'transaction' || value.kind === 'signature') &&
    'chainId' in value &&
    Number.isSafeInteger(value.chainId) &&
    'title' in value &&
    typeof value.title === 'string' &&
    (outcome === null || (isObject(outcome) && 'status' in outcome))
  );
}
