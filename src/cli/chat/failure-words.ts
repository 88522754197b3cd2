import { ClientError } from '../../client/index.js';
import { printable } from '../terminal.js';

/** Describes an error, and why the service cannot be reached. */
export function failureWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error instanceof ClientError ? reasonOf(error.cause) : undefined;
  return reason === undefined ? error.message : `${error.message}: ${reason}`;
}

/** Finds the error of the connection, which `fetch` has wrapped. */
function reasonOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if (cause.cause instanceof Error) return reasonOf(cause.cause);
  // Several addresses were tried: the errors are alike, and the message of their sum is empty.
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return printable(cause.message).trim();
}
