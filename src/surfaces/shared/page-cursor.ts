import type { ThreadCursor } from '../../core/ports/store.js';

/** The opaque `cursor` of a list of threads, as sent in its `Link` header. */

/** Encodes a position as text for a query parameter. */
export function encodeCursor({ activeAt, id }: ThreadCursor): string {
  return Buffer.from(`${String(activeAt)} ${id}`).toString('base64url');
}

/** Decodes a cursor; undefined when it is malformed. */
export function decodeCursor(text: string): ThreadCursor | undefined {
  const [, activeAt, id] = /^(\d{1,15}) (\S{1,64})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return activeAt === undefined || id === undefined ? undefined : { activeAt: Number(activeAt), id };
}
