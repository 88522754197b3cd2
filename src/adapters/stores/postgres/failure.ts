import { DatabaseError } from 'pg';
import { SchemaVersionError } from '../schema-version.js';
import { StoreUnavailableError } from '../../../core/ports/store.js';
import { StoreError } from '../store-error.js';

/**
 * SQLSTATE classes (https://www.postgresql.org/docs/current/errcodes-appendix.html) of errors that do not depend on the
 * statement: connection, authorization, unknown database or schema, transaction rollback, insufficient resources, object
 * in use, operator intervention (shutdown, timeout), system error (I/O), internal error (corruption). 25006 is a
 * read-only server, 42501 a missing right of the role; its message names only the table or schema.
 */
const UNAVAILABLE = /^(08|28|3D|3F|40|53|55|57|58|XX)|^(25006|42501)$/;

/**
 * SQLSTATE codes of a prepared statement that exists already, and of one that does not: a pooler gave the connection of
 * one client to another.
 */
const POOLED = /^(42P05|26000)$/;

/** True when a driver error means that the database is currently unavailable. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code !== undefined && UNAVAILABLE.test(error.code);
  // The driver's other errors concern the connection, except these two, which are programming errors.
  return !(error instanceof TypeError || error instanceof RangeError);
}

/** True when PostgreSQL has rolled a transaction back because it and others waited for each other's locks. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

/**
 * Converts a driver error: to `StoreUnavailableError` when the database is unavailable, otherwise to an error whose
 * message has only the SQLSTATE code, and what to do about it.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError || error instanceof SchemaVersionError) return error;
  if (isUnavailable(error)) {
    return new StoreUnavailableError(`PostgreSQL cannot be used now: ${reasonOf(error)}`, { cause: error });
  }
  if (!(error instanceof DatabaseError)) return error;
  const { code = 'no code' } = error;
  const hint = POOLED.test(code) ? ': a pooler that pools by transaction needs DATABASE_PREPARED=off' : '';
  return new StoreError(`PostgreSQL refused a statement (${code})${hint}`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  // A connection attempt on several addresses fails with an AggregateError whose own message is empty.
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.map(reasonOf).join(', ');
  return 'message' in error && typeof error.message === 'string' ? error.message : 'unknown reason';
}
