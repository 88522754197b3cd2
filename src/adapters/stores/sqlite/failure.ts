import { SchemaVersionError } from '../schema-version.js';
import { codeOf } from '../../platform/node/error-code.js';
import { StoreUnavailableError } from '../../../core/ports/store.js';
import { StoreError } from '../store-error.js';

/** An error as data, to be posted to another thread: a message does not keep the classes of errors. */
export interface Failure {
  /** `unavailable`: the database cannot be used now; `newer`, `older`, `empty`: its schema is; `defect`: a write failed. */
  readonly kind: 'unavailable' | SchemaVersionError['kind'] | 'defect';
  readonly message: string;
  readonly stack: string;
}

/** Result codes (https://sqlite.org/rescode.html) of errors that do not depend on the statement. */
const UNAVAILABLE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|NOMEM|PROTOCOL|PERM|AUTH)(_|$)/;

/** Result codes of a write that failed because the disk is full. */
const FULL = /^SQLITE_(FULL|IOERR_WRITE|IOERR_FSYNC|IOERR_SHMSIZE)$/;

/** The SQLite result code of an error; undefined for any other error. */
export function sqliteCode(error: unknown): string | undefined {
  const code = codeOf(error);
  return code?.startsWith('SQLITE_') === true ? code : undefined;
}

/** True when an error means that the database is currently unavailable. */
export function isUnavailable(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && UNAVAILABLE.test(code);
}

/** True when an error means that the disk is full. */
export function isFull(error: unknown): boolean {
  return FULL.test(sqliteCode(error) ?? '');
}

/** Converts an error to data that can be posted to another thread. */
export function toFailure(error: unknown, kind: Failure['kind']): Failure {
  const code = sqliteCode(error);
  const message = hasMessage(error) ? error.message : String(error);
  const stack = hasStack(error) ? error.stack : '';
  return { kind, message: code === undefined ? message : `${message} (${code})`, stack };
}

/** Converts a failure to the error that the store rejects with. */
export function toError({ kind, message, stack }: Failure): Error {
  const cause = new Error(message);
  if (stack !== '') cause.stack = stack;
  switch (kind) {
    case 'unavailable':
      return new StoreUnavailableError(`the database cannot be used now: ${message}`, { cause });
    case 'newer':
    case 'older':
    case 'empty':
    case 'foreign':
      return new SchemaVersionError(kind, message, { cause });
    case 'defect':
      return new StoreError(`the database refused a write: ${message}`, { cause });
  }
}

/** Converts the error of a failed read: to `StoreUnavailableError` when the database is unavailable. */
export function readError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  const { message } = toFailure(error, 'unavailable');
  return new StoreUnavailableError(`the database cannot be read now: ${message}`, { cause: error });
}

/**
 * Converts the error of copying to a file, so that a full disk is not taken for that of the database that is read.
 * @param path the file that was written
 * @param outcome what remains of the copy, as the end of a sentence
 */
export function copyError(error: unknown, path: string, outcome: string): unknown {
  if (!isUnavailable(error)) return error;
  const { message } = toFailure(error, 'unavailable');
  return new StoreUnavailableError(`cannot complete the copy ${path}, ${outcome}: ${message}`, {
    cause: error,
  });
}

/** Runs a synchronous driver call, and converts its error: without `convert`, as `readError` does. */
export function guarded<T>(run: () => T, convert: (error: unknown) => unknown = readError): T {
  try {
    return run();
  } catch (error) {
    throw convert(error);
  }
}

function hasMessage(error: unknown): error is { message: string } {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  );
}

function hasStack(error: unknown): error is { stack: string } {
  return typeof error === 'object' && error !== null && 'stack' in error && typeof error.stack === 'string';
}
