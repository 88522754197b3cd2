import type { Request, Response } from 'express';
import type { ThreadCursor } from '../../core/ports/store.js';

/** The opaque `cursor` of a list of threads, as sent in its `Link` header. */

/** Encodes a position as text for a query parameter. */
export function encodeCursor({ activeAt, id }: ThreadCursor): string {
  return Buffer.from(`${String(activeAt)} ${id}`).toString('base64url');
}

/** Returns the position where a page begins, from its validated cursor; null: the first page. */
export function positionOf(cursor: string | undefined): ThreadCursor | null {
  return cursor === undefined ? null : (decodeCursor(cursor) ?? null);
}

/** Decodes a cursor; undefined when it is malformed. */
export function decodeCursor(text: string): ThreadCursor | undefined {
  const [, activeAt, id] = /^(\d{1,15}) (\S{1,64})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return activeAt === undefined || id === undefined ? undefined : { activeAt: Number(activeAt), id };
}

/** Adds the `Link` header with the URL of the next page of a wallet's threads (RFC 8288). */
export function linkNextPage(
  req: Request,
  res: Response,
  { wallet, limit, next }: { readonly wallet: string; readonly limit: number; readonly next: ThreadCursor },
): void {
  const query = new URLSearchParams({ public_key: wallet, limit: String(limit), cursor: encodeCursor(next) });
  // Appends, so that a link set earlier is kept.
  res.append('Link', `<${req.baseUrl}${req.path}?${query.toString()}>; rel="next"`);
}
