import type { JsonValue } from '../../../core/model/json.js';
import { Scrubber as ValueScrubber } from '../../../core/tools/redaction.js';
import { secretHandle } from '../../../core/access/secrets.js';
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

/**
 * A scrubber for a session's secrets, which their handles stand for, and for other private values; in the usual
 * encodings too.
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
