import type { JsonValue } from '../../core/json.js';
import { secretHandle } from '../../core/secrets.js';
import { fillHandles, hasHandle, secretPlaces, type McpTransportSettings } from './settings.js';

const MASK = '[secret]';
/** A shorter value would take ordinary words apart, and hides nothing. */
const MIN_LENGTH = 4;
const PRIVATE_KEY = /auth|cookie|credential|key|password|secret|token/i;

/**
 * The transport's settings with each handle replaced by its value.
 * @throws Error that names the first secret that is missing or does not fit
 */
export function resolveSecrets(
  transport: McpTransportSettings,
  secrets: ReadonlyMap<string, string>,
): McpTransportSettings {
  const filled = Object.entries(secretPlaces(transport)).map(([key, value]): [string, string] => [
    key,
    fillHandles(value, (name) => {
      const secret = secrets.get(name);
      if (secret === undefined || secret === '') {
        throw new Error(`This tool needs the secret ${name}, which is not stored for this session.`);
      }
      const isUnfit = transport.kind === 'http' ? /[^\t\x20-\x7e]/.test(secret) : secret.includes('\0');
      if (isUnfit)
        throw new Error(`The secret ${name} has characters that cannot be sent to the tool server.`);
      return secret;
    }),
  ]);
  return withPlaces(transport, filled);
}

/** The transport's settings without the values that hold handles. */
export function withoutSecrets(transport: McpTransportSettings): McpTransportSettings {
  const open = Object.entries(secretPlaces(transport)).filter(([, value]) => !hasHandle(value));
  return withPlaces(transport, open);
}

/** What the operator's own settings hold that looks private: tokens and keys that no session has brought. */
export function privateValues(transport: McpTransportSettings): readonly string[] {
  return Object.entries(secretPlaces(transport))
    .filter(([key, value]) => PRIVATE_KEY.test(key) && !hasHandle(value))
    .flatMap(([, value]) => [value, value.replace(/^(bearer|basic|token) /i, '')]);
}

function withPlaces(
  transport: McpTransportSettings,
  entries: readonly (readonly [string, string])[],
): McpTransportSettings {
  const values = Object.fromEntries(entries);
  return transport.kind === 'stdio' ? { ...transport, env: values } : { ...transport, headers: values };
}

/** Takes known secret values out of whatever is shown or logged. */
export interface Scrubber {
  text(text: string): string;
  value(value: JsonValue): JsonValue;
  /** The error in words that are safe, its causes too. */
  error(error: unknown): Error;
}

/** A scrubber for a session's secrets, which their handles stand for, and for other private values; in the usual encodings too. */
export function createScrubber(
  secrets: ReadonlyMap<string, string>,
  others: readonly string[] = [],
): Scrubber {
  const masked = [
    ...[...secrets].map(([name, value]) => ({ value, mask: secretHandle(name) })),
    ...others.map((value) => ({ value, mask: MASK })),
  ];
  const known = masked
    .filter(({ value }) => value.length >= MIN_LENGTH)
    .flatMap(({ value, mask }) => formsOf(value).map((form) => ({ form, mask })))
    // The longest first: a value may hold another.
    .sort((a, b) => b.form.length - a.form.length);

  function text(given: string): string {
    return known.reduce((shown, { form, mask }) => shown.replaceAll(form, () => mask), given);
  }
  function value(given: JsonValue): JsonValue {
    if (typeof given === 'string') return text(given);
    if (typeof given === 'number') return text(String(given)) === String(given) ? given : text(String(given));
    if (typeof given !== 'object' || given === null) return given;
    if (isList(given)) return given.map(value);
    return Object.fromEntries(Object.entries(given).map(([key, item]) => [text(key), value(item)]));
  }
  function error(given: unknown): Error {
    if (!(given instanceof Error)) return new Error(text(String(given)));
    const options = given.cause === undefined ? {} : { cause: error(given.cause) };
    const safe = new Error(text(given.message), options);
    safe.name = given.name;
    safe.stack = text(given.stack ?? '');
    const hasCode = 'code' in given && (typeof given.code === 'string' || typeof given.code === 'number');
    return hasCode ? Object.assign(safe, { code: given.code }) : safe;
  }
  return known.length === 0
    ? { text: (given) => given, value: (given) => given, error: asError }
    : { text, value, error };
}

/** A value as it is and as it may come back. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  return [
    value,
    encodeURIComponent(value.toWellFormed()),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
