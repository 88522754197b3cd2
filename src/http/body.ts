import express, { type Request, type RequestHandler, type Response } from 'express';
import { isJsonObject, type JsonObject } from '../core/json.js';
import { RefusedError } from '../core/refusal.js';
import { HttpError } from './errors.js';

/** The size limit of a body, in bytes, where a route sets no smaller one. */
const MAX_BODY_BYTES = 1_048_576;

/** What came as the body. */
export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly fields: JsonObject }
  /** Why it cannot be used: the error to answer with, if it is needed. */
  | { readonly kind: 'unusable'; readonly error: Error };

const readers = new Map<number, RequestHandler>();

const bodies = new WeakMap<Request, Promise<Body>>();

/** The body as a JSON object, whatever its content type says beside a charset. Never rejects; may be asked twice. */
export function readBody(req: Request, res: Response, limit = MAX_BODY_BYTES): Promise<Body> {
  let body = bodies.get(req);
  if (body === undefined) bodies.set(req, (body = read(req, res, limit)));
  return body;
}

async function read(req: Request, res: Response, limit: number): Promise<Body> {
  let readRaw = readers.get(limit);
  if (readRaw === undefined) readers.set(limit, (readRaw = express.raw({ type: () => true, limit })));
  const reader = readRaw;
  const failure = await new Promise<unknown>((resolve) => {
    reader(req, res, resolve);
  });
  if (failure !== undefined) return unusable(bodyError(failure, limit));
  const raw: unknown = req.body;
  if (!Buffer.isBuffer(raw) || raw.length === 0) return { kind: 'none' };
  try {
    const value: unknown = JSON.parse(decode(raw, req.headers['content-type']));
    return isJsonObject(value)
      ? { kind: 'object', fields: value }
      : unusable(refuse('the request body must be a JSON object'));
  } catch (error) {
    return unusable(refuse('the request body is not valid JSON', error));
  }
}

/** @throws TypeError when the bytes are not text of that charset, RangeError when the charset is not known */
function decode(raw: Buffer, contentType: string | undefined): string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  return new TextDecoder(charset, { fatal: true }).decode(raw);
}

function bodyError(cause: unknown, limit: number): Error {
  const isTooLarge = cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large';
  return isTooLarge
    ? new HttpError(
        413,
        'payload_too_large',
        `the request body is larger than ${String(limit / 1024)} KiB`,
        undefined,
        { cause },
      )
    : refuse('the request body cannot be read', cause);
}

function refuse(message: string, cause?: unknown): RefusedError {
  return new RefusedError('invalid', message, [{ path: 'body', message }], undefined, { cause });
}

function unusable(error: Error): Body {
  return { kind: 'unusable', error };
}
