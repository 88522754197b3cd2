import { DatabaseError } from 'pg';
import { StoreUnavailableError } from '../../../core/ports/store.js';

/**
 * Classes of SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) that say that the database
 * cannot be used now, whatever was asked: connection, authorization, wrong database, rolled back for another's sake,
 * out of resources, busy, shut down or cancelled by a timeout, input and output, damaged. 25006: this server only
 * reads.
 */
const UNAVAILABLE = /^(08|28|3D|40|53|55|57|58|XX)|^25006$/;

/** True when an error of the driver says that the database cannot be used now. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code !== undefined && UNAVAILABLE.test(error.code);
  // Everything else that the driver throws is about the connection, unless it is a mistake in code.
  return !(error instanceof TypeError || error instanceof RangeError);
}

/**
 * What a failure of the driver is thrown as: `StoreUnavailableError`, or an error that names only the kind of the
 * defect.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error;
  if (isUnavailable(error)) {
    return new StoreUnavailableError(`PostgreSQL cannot be used now: ${reasonOf(error)}`, { cause: error });
  }
  if (!(error instanceof DatabaseError)) return error;
  return new Error(`PostgreSQL refused a statement (${error.code ?? 'no code'})`, { cause: error });
}

function reasonOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  // A connection that was tried on several addresses fails with all their errors and no words of its own.
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.map(reasonOf).join(', ');
  return 'message' in error && typeof error.message === 'string' ? error.message : 'unknown reason';
}
