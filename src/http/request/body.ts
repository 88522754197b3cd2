import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { isJsonObject, type JsonObject } from '../../core/model/json.js';
import { RefusedError } from '../../core/model/refusal.js';
import { HttpError } from '../response/errors.js';
import { isBodiless } from './body-length.js';
import { JsonBudgetError, parseJson } from './json-budget.js';

/** Default size limit of a request body, in bytes. */
export const MAX_BODY_BYTES = 1_048_576;

/** A request body after parsing. */
export type Body =
  /** No body, only white space, or JSON `null`. */
  | { readonly kind: 'none' }
  | { readonly kind: 'object'; readonly fields: JsonObject }
  /** The body cannot be used. `error` is the error to respond with if the route needs the body. */
  | { readonly kind: 'unusable'; readonly error: Error }
  /** The connection broke before the end of the body: the request must not be processed. */
  | { readonly kind: 'incomplete'; readonly error: Error };

/** White space as JSON defines it (RFC 8259 §2). */
const BLANK = /^[ \t\r\n]*$/;

const readers = new Map<number, RequestHandler>();

const NO_BODY: Promise<Body> = Promise.resolve({ kind: 'none' });

const bodies = new WeakMap<IncomingMessage, Promise<Body>>();

/**
 * Reads the body as a JSON object. Ignores the media type except for its charset. Never rejects; later calls return the
 * same promise.
 */
export function readBody(req: Request, res: Response, limit = MAX_BODY_BYTES): Promise<Body> {
  let body = bodies.get(req);
  if (body === undefined) {
    if (isBodiless(req)) return NO_BODY;
    body = read(req, res, limit);
    bodies.set(req, body);
  }
  return body;
}

/** True when `Content-Length` exceeds the limit; by default, the largest limit of any route. */
export function isAnnouncedTooLarge({ headers }: IncomingMessage, limit = MAX_BODY_BYTES): boolean {
  return Number(headers['content-length']) > limit;
}

function read(req: Request, res: Response, limit: number): Promise<Body> {
  // Refuses by `Content-Length`, before the client sends the body.
  if (isAnnouncedTooLarge(req, limit)) return Promise.resolve(unusable(tooLarge(limit)));
  return readRaw(req, res, limit);
}

/** Reads a body with Express's `raw` reader, which reports a body that is too large only at the end of the request. */
async function readRaw(req: Request, res: Response, limit: number): Promise<Body> {
  const reader = readers.get(limit) ?? express.raw({ type: () => true, limit });
  readers.set(limit, reader);
  const arrival = arrivalOf(req, limit);
  const body = new Promise<Body>((resolve) => {
    reader(req, res, (failure?: unknown) => {
      resolve(
        failure === undefined ? bodyOf(req.body, req.headers['content-type']) : failedBody(failure, limit),
      );
    });
  });
  switch (await arrival) {
    case 'complete':
      return body;
    case 'too-large':
      // The client may go on sending without end: the rest is read after the response, within bounds.
      req.pause();
      res.setHeader('Connection', 'close');
      return unusable(tooLarge(limit));
    case 'incomplete':
      return { kind: 'incomplete', error: refuse('the request body did not arrive in full') };
  }
}

/** Resolves at the end of a body, at more than `limit` bytes of it, or when its connection breaks. */
function arrivalOf(req: Request, limit: number): Promise<'complete' | 'too-large' | 'incomplete'> {
  return new Promise((resolve) => {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) resolve('too-large');
    });
    req.once('end', () => {
      resolve('complete');
    });
    req.once('close', () => {
      resolve('incomplete');
    });
    if (req.destroyed) resolve('incomplete');
  });
}

/**
 * Parses the bytes of a body.
 * @param raw anything but a Buffer counts as no body
 */
function bodyOf(raw: unknown, contentType: string | undefined): Body {
  if (!Buffer.isBuffer(raw) || raw.length === 0) return { kind: 'none' };
  try {
    const text = decode(raw, contentType);
    const value = BLANK.test(text) ? null : parseJson(text);
    // Some clients send `null` for an empty body.
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

/**
 * @throws TypeError when the bytes are not text of the charset
 * @throws RangeError when the charset is unknown
 */
function decode(raw: Buffer, contentType: string | undefined): string {
  // Most bodies are plain UTF-8; creating a TextDecoder takes longer than decoding them.
  const isNamed = contentType?.toLowerCase().includes('charset') === true;
  if (!isNamed && raw[0] !== BYTE_ORDER_MARK && isUtf8(raw)) return raw.toString();
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  return new TextDecoder(charset, { fatal: true }).decode(raw);
}

function failedBody(cause: unknown, limit: number): Body {
  const isTooLarge = cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large';
  return unusable(isTooLarge ? tooLarge(limit, cause) : refuse('the request body cannot be read', cause));
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
