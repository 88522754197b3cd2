import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { needsLength } from './content-length.js';
import { addHeaders } from './header-list.js';

/** Bodies of at most this many bytes are copied into one buffer; longer ones are written in pieces. */
const SHORT_BYTES = 16_384;

/** Bodies of more than this many bytes are written in parts of this size. */
const PART_BYTES = 262_144;

/** The size of a body in pieces, in bytes. */
export function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

/**
 * Ends a response with a body in pieces. Does not copy a long body, which may have hundreds of KiB. Node drops the body
 * for HEAD.
 */
export function endWithPieces(res: Response, pieces: readonly Buffer[]): void {
  const length = lengthOf(pieces);
  if (length <= SHORT_BYTES && !needsLength(res.req)) {
    res.end(Buffer.concat(pieces, length));
    return;
  }
  addHeaders(res, ['Content-Length', String(length)]);
  res.writeHead(res.statusCode);
  if (length > PART_BYTES) {
    endInParts(res, pieces);
    return;
  }
  res.cork();
  for (const piece of joinShort(pieces)) res.write(piece);
  res.end();
  res.uncork();
}

/**
 * Writes a body and ends its response. Writes each part when the socket has taken the part before, so that `Connections`
 * sees whether a slow client reads.
 */
export function endInParts(res: ServerResponse, pieces: readonly Buffer[]): void {
  const parts = pieces.flatMap(partsOf);
  let at = 0;
  const write = (): void => {
    for (let part = parts[at++]; part !== undefined; part = parts[at++]) {
      if (res.write(part)) continue;
      res.once('drain', write);
      return;
    }
    res.end();
  };
  write();
}

function partsOf(piece: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; from < piece.length; from += PART_BYTES)
    parts.push(piece.subarray(from, from + PART_BYTES));
  return parts;
}

/** Joins short neighboring pieces, because a write is slower than copying them. */
function joinShort(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last !== undefined && last.length + piece.length <= SHORT_BYTES)
      joined[joined.length - 1] = Buffer.concat([last, piece]);
    else joined.push(piece);
  }
  return joined;
}
