/** What `check` found out about one part. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  /** True if the part works, but should be looked at. */
  readonly warning?: true;
}

/** Timeout of an endpoint, in milliseconds. */
export const ENDPOINT_MS = 15_000;

/**
 * Runs a check. Its error becomes the message of the finding, and so does the warning that it may return.
 * @param fine the message if it succeeds, and the beginning of a warning
 * @param limit the timeout of the work, in milliseconds
 */
export async function attempt(
  name: string,
  fine: string,
  work: () => Promise<string | undefined> | Promise<void>,
  limit = ENDPOINT_MS,
): Promise<Finding> {
  try {
    const warning = await work();
    if (typeof warning === 'string') {
      return { name, ok: true, warning: true, message: `${fine}, but ${warning}` };
    }
    return { name, ok: true, message: fine };
  } catch (error) {
    return { name, ok: false, message: messageOf(error, limit) };
  }
}

function messageOf(error: unknown, limit: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `did not answer within ${String(limit / 1000)} s`;
  return error.message;
}
