import type { ThreadCursor } from '../../core/ports/store.js';

/** The opaque `cursor` of a list of threads, as its `Link` header carries it. */

/** The place as text that fits into a query. */
export function encodeCursor({ activeAt, id }: ThreadCursor): string {
  return Buffer.from(`${String(activeAt)} ${id}`).toString('base64url');
}

/** The place that a cursor names; undefined when it is none. */
export function decodeCursor(text: string): ThreadCursor | undefined {
  const [, activeAt, id] = /^(\d{1,15}) (\S{1,64})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return activeAt === undefined || id === undefined ? undefined : { activeAt: Number(activeAt), id };
}
