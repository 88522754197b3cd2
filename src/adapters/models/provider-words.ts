import { isJsonObject } from '../../core/model/json.js';
import { resultText } from '../../core/model/message.js';
import type { RigRequest } from '../../core/ports/rig.js';
import { cutText } from '../../core/model/text.js';
import { Scrubber } from '../../core/tools/redaction.js';
import { parseProviderJson } from './provider-json.js';
import { percentDecoded } from '../platform/net/basic-authorization.js';
import type { Endpoint } from './endpoint.js';
import { sentMessages } from './request-outline.js';

/** The maximum length of a provider's message, in characters. */
const MAX_WORDS = 300;
/** How much of a message is read, in characters. */
const MAX_READ = 4_000;
/** Texts that a message shares with a key from this length on are masked, because providers quote parts of keys. */
const MIN_SHARED = 8;
/** A shorter value is a placeholder, not a secret. */
const MIN_SECRET = 4;
const MASK = '[key]';
/** Texts that a message shares with the conversation from this length on are masked: the log has no text of users. */
const MIN_QUOTED = 16;
/** How much of the end of a conversation is compared, in characters. */
const MAX_QUOTED = 65_536;
const QUOTE = '[quoted]';

/** What looks like a credential, whosever it is. */
const CREDENTIALS: readonly RegExp[] = [
  // Keys by their prefix, also if partly masked by the provider.
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|pplx|ya29|gh[pousr]|github_pat)[-_.][^\s"'`,;()<>]{4,}/g,
  /\bAIza[^\s"'`,;()<>]{8,}/g,
  // JSON Web Tokens (RFC 7519).
  /\beyJ[\w-]{6,}(?:\.[\w-]*){0,2}/g,
  /\b(?:Bearer|Basic) (?:(?=\S*\d)\S{8,}|\S{20,})/gi,
  // The credentials of a URL, and values of its query.
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /(?<=[?&][\w-]{1,40}=)[^\s&"'`<>]+/g,
  // Addresses of wallets, hashes and keys, which users may have written.
  /\b0x[\da-f]{40,}/gi,
];

/** What a provider's message must not show: keys, headers, the credentials of the address, and the conversation. */
export interface Secrets {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** The end of the conversation. */
  readonly said: string;
}

/** No secrets, for a response to a request that carried none. */
export const NO_SECRETS: Secrets = { keys: [], values: [], said: '' };

/**
 * Returns the secrets of a request to an endpoint.
 * @param request the model request; absent for a request that carries no conversation
 */
export function secretsOf({ apiKey, options, baseUrl }: Endpoint, request?: RigRequest): Secrets {
  const headers = Object.values(options.headers ?? {});
  const { username, password } = new URL(baseUrl);
  return {
    keys: [apiKey ?? '', request?.apiKey ?? ''].filter(isSecret),
    values: [
      ...headers,
      ...headers.flatMap((header) => header.split(' ')),
      ...[username, password].flatMap((part) => [part, percentDecoded(part)]),
    ].filter(isSecret),
    said: request === undefined ? '' : saidIn(request),
  };
}

/**
 * Returns the message in the body of a provider's error, for the operator: one line of at most 300 characters without
 * credentials. Undefined if the body has none.
 */
export function providerWords(body: string, secrets: Secrets): string | undefined {
  const found = messageIn(body);
  if (found === undefined) return undefined;
  const line = cleanLine(found, secrets);
  return line === '' ? undefined : line;
}

/** Returns text of a provider as one line of at most `most` characters without credentials. */
export function cleanLine(text: string, secrets: Secrets, most = MAX_WORDS): string {
  const oneLine = joinLines(text);
  const values = [...secrets.keys, ...secrets.values].map((value) => ({ value, mask: MASK }));
  const scrubbed = maskShared(new Scrubber(values).text(oneLine), secrets.keys);
  // A word with asterisks is a key that the provider masked in part.
  const unstarred = scrubbed.replaceAll(/[^\s"'`,;:()<>]+/g, (word) => (word.includes('***') ? MASK : word));
  const masked = CREDENTIALS.reduce((line, pattern) => line.replaceAll(pattern, MASK), unstarred);
  const shown = maskQuoted(masked, secrets.said);
  return shown.length > most ? `${cutText(shown, most - 1)}…` : shown;
}

function joinLines(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\s\p{C}\p{Z}]+/gu, ' ')
    .trim();
}

/** Masks every run of characters that the text shares with a key. */
function maskShared(text: string, keys: readonly string[]): string {
  return maskRuns(text, { pieces: new Set(keys.flatMap((key) => piecesOf(key, MIN_SHARED))), mask: MASK });
}

/** Masks every run of characters that the text shares with the conversation. */
function maskQuoted(text: string, said: string): string {
  if (said === '') return text;
  const own = new Set(piecesOf(text, MIN_QUOTED));
  const pieces = new Set(piecesOf(joinLines(said), MIN_QUOTED).filter((piece) => own.has(piece)));
  return maskRuns(text, { pieces, mask: QUOTE });
}

/** @param pieces texts of one length */
function maskRuns(
  text: string,
  { pieces, mask }: { readonly pieces: ReadonlySet<string>; readonly mask: string },
): string {
  const [{ length } = ''] = pieces;
  if (length === 0) return text;
  let clean = '';
  let shownTo = 0;
  for (let at = 0; at + length <= text.length; at++) {
    if (!pieces.has(text.slice(at, at + length))) continue;
    if (at > shownTo || shownTo === 0) clean += text.slice(shownTo, at) + mask;
    shownTo = at + length;
  }
  return clean + text.slice(shownTo);
}

/** The pieces of a text that have this length. */
function piecesOf(text: string, length: number): string[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) =>
    text.slice(at, at + length),
  );
}

/** The end of a conversation as it was sent: what was said and what tools returned. */
function saidIn(request: RigRequest): string {
  const texts: string[] = [];
  let length = 0;
  for (const message of sentMessages(request).toReversed()) {
    const results = message.role === 'assistant' ? message.toolResults : [];
    const text = [message.content, ...results.map(({ result }) => resultText(result))].join(' ');
    texts.push(text.slice(0, MAX_QUOTED - length));
    length += text.length;
    if (length >= MAX_QUOTED) break;
  }
  return texts.join('\n');
}

/**
 * The beginning of the message of an error body in the forms that providers use: OpenAI's, Google's, Ollama's, FastAPI's,
 * plain text.
 */
export function messageIn(body: string): string | undefined {
  return wholeMessageIn(body)?.slice(0, MAX_READ);
}

function wholeMessageIn(body: string): string | undefined {
  const trimmed = body.trim();
  if (trimmed === '' || trimmed.startsWith('<')) return undefined;
  let parsed: unknown;
  try {
    parsed = parseProviderJson(trimmed);
  } catch {
    return /^[[{"]/.test(trimmed) ? undefined : trimmed;
  }
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof first === 'string') return first;
  if (!isJsonObject(first)) return undefined;
  const inner = isJsonObject(first.error) ? first.error : first;
  const texts = [inner.message, inner.error, inner.detail, inner.title].filter(
    (text) => typeof text === 'string',
  );
  const { metadata } = inner;
  // OpenRouter puts the words of the provider behind it here.
  const raw = isJsonObject(metadata) && typeof metadata.raw === 'string' ? [metadata.raw] : [];
  return [...texts.slice(0, 1), ...raw].join(': ');
}

function isSecret(value: string): boolean {
  return value.length >= MIN_SECRET;
}
