import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import { RefusedError } from '../../core/model/refusal.js';
import { HttpError } from '../response/errors.js';
import { JsonBudgetError, parseJson } from './json-budget.js';

/** The size limit of a body, in bytes, where a route sets no smaller one. */
export const MAX_BODY_BYTES = 1_048_576;

/** What came as the body. */
export type Body =
  /** Nothing, white space, or JSON's `null`. */
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly fields: JsonObject }
  /** Why it cannot be used: the error to answer with, if it is needed. */
  | { readonly kind: 'unusable'; readonly error: Error };

/** White space in the sense of JSON (RFC 8259 §2). */
const BLANK = /^[ \t\r\n]*$/;

const readers = new Map<number, RequestHandler>();

const bodies = new WeakMap<IncomingMessage, Promise<Body>>();

/** The body as a JSON object, whatever its content type says beside a charset. Never rejects; may be asked twice. */
export function readBody(req: Request, res: Response, limit = MAX_BODY_BYTES): Promise<Body> {
  let body = bodies.get(req);
  if (body === undefined) {
    body = read(req, res, limit);
    bodies.set(req, body);
  }
  return body;
}

/** Whether a request says of its body that it is larger than this; by default, than any route takes. */
export function isAnnouncedTooLarge({ headers }: IncomingMessage, limit = MAX_BODY_BYTES): boolean {
  return Number(headers['content-length']) > limit;
}

function read(req: Request, res: Response, limit: number): Promise<Body> {
  // Told before it comes: nobody has to send it in vain.
  if (isAnnouncedTooLarge(req, limit)) return Promise.resolve(unusable(tooLarge(limit)));
  return isPlain(req) ? readPlain(req, limit) : readAny(req, res, limit);
}

/** A body that says how long it is, and comes as it is. */
function isPlain({ headers }: Request): boolean {
  return headers['content-length'] !== undefined && headers['content-encoding'] === undefined;
}

/**
 * Reads a plain body. The general reader of Express looks at all that a body may be otherwise. The request has its
 * listeners for as long as its answer streams, so they hold no bytes, and are not wrapped to be called once.
 */
function readPlain(req: Request, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    let pieces: Buffer[] = [];
    const fail = (error: Error): void => {
      resolve(unusable(bodyError(error, limit)));
    };
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => {
      const all = pieces;
      pieces = [];
      const [first] = all;
      const raw = all.length === 1 && first !== undefined ? first : Buffer.concat(all);
      resolve(bodyOf(raw, req.headers['content-type']));
    });
    req.on('error', fail).on('close', () => {
      if (!req.complete) fail(new Error('the request broke off'));
    });
  });
}

/** Reads any body, as Express does. */
async function readAny(req: Request, res: Response, limit: number): Promise<Body> {
  let readRaw = readers.get(limit);
  if (readRaw === undefined) readers.set(limit, (readRaw = express.raw({ type: () => true, limit })));
  const reader = readRaw;
  try {
    await new Promise<void>((resolve, reject) => {
      reader(req, res, (failure?: unknown) => {
        if (failure === undefined) resolve();
        else reject(failure instanceof Error ? failure : new Error('no error was given', { cause: failure }));
      });
    });
  } catch (error) {
    return unusable(bodyError(error, limit));
  }
  return bodyOf(req.body, req.headers['content-type']);
}

/** What the bytes of a body say. @param raw anything else than bytes: there is none */
function bodyOf(raw: unknown, contentType: string | undefined): Body {
  if (!Buffer.isBuffer(raw) || raw.length === 0) return { kind: 'none' };
  try {
    const text = decode(raw, contentType);
    const value = BLANK.test(text) ? null : parseJson(text);
    // As some clients say that they have nothing to say.
    if (value === null) return { kind: 'none' };
    return isJsonObject(value)
      ? { kind: 'object', fields: value }
      : unusable(refuse('the request body must be a JSON object'));
  } catch (error) {
    const fault = error instanceof JsonBudgetError ? error.message : 'is not valid JSON';
    return unusable(refuse(`the request body ${fault}`, error));
  }
}

const BYTE_ORDER_MARK = 0xef;

/** @throws TypeError when the bytes are not text of that charset, RangeError when the charset is not known */
function decode(raw: Buffer, contentType: string | undefined): string {
  // Most bodies: making a decoder takes longer than its work.
  const isNamed = contentType?.toLowerCase().includes('charset') === true;
  if (!isNamed && raw[0] !== BYTE_ORDER_MARK && isUtf8(raw)) return raw.toString();
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  return new TextDecoder(charset, { fatal: true }).decode(raw);
}

function bodyError(cause: unknown, limit: number): Error {
  const isTooLarge = cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large';
  return isTooLarge ? tooLarge(limit, cause) : refuse('the request body cannot be read', cause);
}

function tooLarge(limit: number, cause?: unknown): HttpError {
  const message = `the request body is larger than ${String(limit / 1024)} KiB`;
  return new HttpError(413, 'payload_too_large', message, undefined, { cause });
}

function refuse(message: string, cause?: unknown): RefusedError {
  return new RefusedError('invalid', message, [{ path: 'body', message }], undefined, { cause });
}

function unusable(error: Error): Body {
  return { kind: 'unusable', error };
}
