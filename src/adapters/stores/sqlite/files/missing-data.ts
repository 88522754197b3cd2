import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from 'better-sqlite3';
import { sqliteCode } from '../failure.js';
import { logOf, sizeOf } from './database-files.js';
import { checkpoint } from './disk-bound.js';
import { scanLog, type LogScan } from './log-scan.js';

/** The state of a database's files before it was opened. */
export interface FilesBefore {
  readonly path: string;
  readonly isEmpty: boolean;
  readonly log: LogScan | undefined;
  /** Non-empty files that show that there was data: the key of secrets, a write-ahead log. */
  readonly traces: readonly string[];
}

/** Inspects a database's files before it is opened. @param companions files that a service creates beside it */
export function lookBefore(path: string, companions: readonly string[]): FilesBefore {
  const real = existsSync(path) ? realpathSync(path) : path;
  const isEmpty = sizeOf(real) === 0;
  const traces = [...companions, `${real}-wal`].filter((file) => sizeOf(file) > 0);
  return { path, isEmpty, log: scanLog(`${real}-wal`), traces };
}

/** Compares an opened database with its files before. Returns what data is missing, as messages for the operator. */
function findMissing({ path, isEmpty, log, traces }: FilesBefore, db: Database): readonly string[] {
  if (isEmpty) return findTraces({ path, traces });
  if (log === undefined) return [];
  const damage = `the write-ahead log of ${path} is damaged: the last writes before the stop may be missing`;
  if (log.salts === undefined) return [damage];
  const isShort = (): boolean =>
    // Another process may have started a new log since `lookBefore`.
    scanLog(logOf(path))?.salts === log.salts && checkpoint(db, 'PASSIVE').pages < log.frames;
  return isShort() && waitForCommit(db) && isShort() ? [damage] : [];
}

/**
 * Waits for a commit of another process. A commit appends frames to the log and syncs it before it adds them to the
 * log's index, so that the log looks damaged in between.
 * @returns false if another process still holds the write lock, so that the log is in use
 */
function waitForCommit(db: Database): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
    db.exec('COMMIT');
    return true;
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_BUSY') return false;
    throw error;
  }
}

/**
 * Inspects a database's files before it is opened.
 * @param onMissing receives what data is missing, as messages for the operator; not called if none is
 * @returns a function to call with the opened database, once its log is recovered
 */
export function reportMissing(
  path: string,
  companions: readonly string[],
  onMissing: (missing: readonly string[]) => void,
): (db: Database) => void {
  const before = lookBefore(path, companions);
  return (db) => {
    const missing = findMissing(before, db);
    if (missing.length > 0) onMissing(missing);
  };
}

/** Returns the traces of data beside a database that is empty or missing, as messages for the operator. */
export function findTraces({ path, traces }: Pick<FilesBefore, 'path' | 'traces'>): readonly string[] {
  if (traces.length === 0) return [];
  const names = traces.map((trace) => basename(trace)).join(' and ');
  return [
    `the database ${path} was empty or missing, but ${names} exists beside it: if it had data, stop the service and restore a backup`,
  ];
}
