/**
 * The session ids of the field surface. A UUID names a session, as on every surface. Clients also send ids that others
 * can guess, such as `default-session`: these name a session of the caller.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hasKeyForm } from '../../core/access/app-keys.js';
import { RefusedError } from '../../core/model/refusal.js';
import type { SessionRef } from '../../core/model/session.js';
import { optionalText, requiredText, type Param, type Place } from '../../http/validation/params.js';
import { sentByHeader } from '../shared/session.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_IN_ANY_CASE = new RegExp(UUID.source, 'i');
/** 1 to 128 printable characters, not all of them spaces. */
const PRINTABLE = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

const PURPOSE = 'the UUID of the session, or another id of 1 to 128 printable characters';
const isId = (text: string): boolean => PRINTABLE.test(text);
const isPlainId = (text: string): boolean => UUID.test(text) || (isId(text) && !UUID_IN_ANY_CASE.test(text));
const asSent = (text: string): string => (UUID_IN_ANY_CASE.test(text) ? text.toLowerCase() : text);

/** What a request says about its sender. */
export interface Sender {
  readonly clientId: string | undefined;
  readonly appKey: string | undefined;
}

/** The session that a request names. */
export interface NamedSession {
  /** The id that responses show: a UUID in lower case, any other id as sent. */
  readonly sentId: string;
  /** Undefined: the id could be anybody's, so it names no session. */
  readonly session: SessionRef | undefined;
  /** True if `sentId` is not the session's own id. */
  readonly isAlias: boolean;
}

/**
 * Returns the id that a request sends. Node joins the values of a repeated header, and joined ids could pass for an id.
 * @throws RefusedError `invalid` when the header was sent with different ids
 */
export function sentOnce(req: Pick<IncomingMessage, 'headersDistinct'>, id: string): string {
  const sent = id.includes(', ') ? (req.headersDistinct['x-session-id'] ?? []) : [];
  if (sent.length < 2 || sent.join(', ') !== id) return id;
  const [first = '', ...others] = new Set(sent.map(asSent));
  if (others.length === 0 && isId(first)) return first;
  const message = 'X-Session-Id must be sent only once';
  throw new RefusedError('invalid', message, [{ path: 'X-Session-Id', message }]);
}

/** Finds the session that an id names when this sender sends it. */
export function nameSession(sentId: string, sender: Sender): NamedSession {
  if (UUID.test(sentId)) return { sentId, session: sentByHeader(sentId), isAlias: false };
  const scope = scopeOf(sender);
  const session = scope === undefined ? undefined : sentByHeader(uuid5(`${scope}\n${sentId}`));
  return { sentId, session, isAlias: true };
}

/** The required session header. */
export const sessionHeader = requiredId('headers', 'X-Session-Id');

export const optionalSessionHeader = optionalText(
  'headers',
  'X-Session-Id',
  refined('X-Session-Id'),
  isPlainId,
);

/** The required path parameter `id`. */
export const sessionPath = requiredId('params', 'id');

function requiredId(place: Place, name: string): Param<string> {
  return requiredText(place, name, PURPOSE, refined(name), isPlainId);
}

function refined(name: string): NonNullable<Parameters<typeof requiredText>[3]> {
  return (chain) => chain.custom(isId).withMessage(`${name} must be ${PURPOSE}`).customSanitizer(asSent);
}

/**
 * Returns the scope of ids: the client, else the App key. Text that does not have the form of an App key is no scope,
 * because several clients may send the same. The result never has a line break.
 */
function scopeOf({ clientId, appKey }: Sender): string | undefined {
  // Lone surrogates would share a digest: each of them encodes as U+FFFD.
  if (clientId?.isWellFormed() === true) return `client ${hash('sha256', clientId)}`;
  return appKey !== undefined && hasKeyForm(appKey) ? `key ${hash('sha256', appKey)}` : undefined;
}

/** The namespace of the ids, chosen at random (RFC 9562, section 6.5). */
const NAMESPACE = Buffer.from('6bd2c3a4e1f74c0fb0d5a3b1d87f2c61', 'hex');
const VERSION_BYTE = 6;
const VARIANT_BYTE = 8;

/** Returns the version 5 UUID of a name (RFC 9562, section 5.5). */
function uuid5(name: string): string {
  const bytes = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(name)]), 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(VERSION_BYTE) & 0x0f) | 0x50, VERSION_BYTE);
  bytes.writeUInt8((bytes.readUInt8(VARIANT_BYTE) & 0x3f) | 0x80, VARIANT_BYTE);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
