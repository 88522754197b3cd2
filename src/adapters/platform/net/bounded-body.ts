import { JsonMeter, type JsonBounds } from './json-meter.js';

/** The body of a response exceeds a limit. */
export class BodyTooLargeError extends RangeError {
  override readonly name = 'BodyTooLargeError';
}

/**
 * Reads a JSON body completely, without parsing it, and closes the connection if it exceeds a limit.
 * @param maxBytes after decompression
 * @throws BodyTooLargeError
 */
export async function readBoundedJson(
  { body }: Response,
  { maxBytes, ...bounds }: JsonBounds & { readonly maxBytes: number },
): Promise<Buffer> {
  const meter = new JsonMeter(bounds);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.byteLength;
    if (bytes > maxBytes || !meter.push(piece)) throw new BodyTooLargeError('The response is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
