import type { Database } from 'better-sqlite3';
import { StoreUnavailableError } from '../../../../core/ports/store.js';
import { openReading } from '../connections.js';
import { guarded } from '../failure.js';

/**
 * Checks the whole database, because one with damaged pages can often be opened.
 * @throws StoreUnavailableError that names the first damage
 */
export function requireSound(db: Database): void {
  const found = guarded(() => String(db.pragma('quick_check(1)', { simple: true })));
  if (found === 'ok') return;
  throw new StoreUnavailableError(`the database ${db.name} is damaged: ${found.split('\n').at(-1) ?? found}`);
}

/**
 * Opens and checks a database that may be in use.
 * @throws StoreUnavailableError that names the first damage
 */
export function requireSoundFile(path: string): void {
  const db = guarded(() => openReading(path));
  try {
    requireSound(db);
  } finally {
    db.close();
  }
}
