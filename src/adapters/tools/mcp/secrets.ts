import type { JsonValue } from '../../../core/model/json.js';
import { Scrubber as ValueScrubber } from '../../../core/tools/redaction.js';
import { secretHandle } from '../../../core/access/secrets.js';
import { fillHandles, hasHandle, secretPlaces, type McpTransportSettings } from './settings.js';

const MASK = '[secret]';
/** Shorter values are not masked: they occur in ordinary words. */
const MIN_LENGTH = 4;
const PRIVATE_KEY = /auth|cookie|credential|key|password|secret|token/i;

/**
 * Replaces each handle in the transport's settings by the secret's value.
 * @throws Error that names the first secret that is missing or contains characters that the transport cannot carry
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

/** Removes the values that contain handles from the transport's settings. */
export function withoutSecrets(transport: McpTransportSettings): McpTransportSettings {
  const open = Object.entries(secretPlaces(transport)).filter(([, value]) => !hasHandle(value));
  return withPlaces(transport, open);
}

/** Lists the values in the operator's own settings whose names suggest credentials, such as tokens and keys. */
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

/** Masks known secret values in text that is shown or logged. */
export interface Scrubber {
  text(text: string): string;
  value(value: JsonValue): JsonValue;
  /** A copy of the error and its causes with secrets masked. */
  error(error: unknown): Error;
}

/**
 * Creates a scrubber that replaces a session's secrets by their handles and other private values by a mask, also in
 * their usual encodings.
 */
export function createScrubber(
  secrets: ReadonlyMap<string, string>,
  others: readonly string[] = [],
): Scrubber {
  const masked = [
    ...[...secrets].map(([name, value]) => ({ value, mask: secretHandle(name) })),
    ...others.map((value) => ({ value, mask: MASK })),
  ].filter(({ value }) => value.length >= MIN_LENGTH);
  const known = new ValueScrubber(masked);
  const error = (given: unknown): Error => {
    if (!(given instanceof Error)) return new Error(known.text(String(given)));
    const options = given.cause === undefined ? {} : { cause: error(given.cause) };
    const safe = new Error(known.text(given.message), options);
    safe.name = known.text(given.name);
    safe.stack = known.text(given.stack ?? '');
    const code = 'code' in given ? given.code : undefined;
    const hasCode = typeof code === 'string' || typeof code === 'number';
    return hasCode ? Object.assign(safe, { code: known.value(code) }) : safe;
  };
  return {
    text: (text) => known.text(text),
    value: (value) => known.value(value),
    error: masked.length === 0 ? asError : error,
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
