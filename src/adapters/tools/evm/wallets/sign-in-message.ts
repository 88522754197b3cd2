import { getAddress, isAddress, type Address } from 'viem';
import type { SignInMessage } from '../../../../core/ports/wallet-signatures.js';

/** A sign-in message with the fields that its verification needs. */
export interface ReadMessage extends SignInMessage {
  readonly address: Address;
  readonly chainId: number;
}

/** In characters (UTF-16 code units). */
const MAX_LENGTH = 8_192;
const FIRST_LINE_END = ' wants you to sign in with your Ethereum account:';

/**
 * Parses a sign-in message by the ABNF of EIP-4361, line by line, so that no field can hide inside another. More
 * lenient than the ABNF in two points: the statement may contain any printable characters, and a message without a
 * statement needs only one blank line.
 * @returns undefined for text that is not a sign-in message
 */
export function readSignInMessage(text: string): ReadMessage | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const lines = new Lines(text);
  const origin = readOrigin(lines.next());
  const address = readAddress(lines.next());
  if (origin === undefined || address === undefined || !lines.skipBlank()) return undefined;
  if (!lines.startsWith('URI: ') && !lines.skipBlank()) {
    const statement = lines.next();
    if (!isPrintable(statement) || !lines.skipBlank()) return undefined;
  }
  const uri = lines.take('URI: ');
  const version = lines.take('Version: ');
  const chainId = readChainId(lines.take('Chain ID: '));
  const nonce = lines.take('Nonce: ');
  const issuedAt = readTime(lines.take('Issued At: '));
  const expiresAt = readTime(lines.take('Expiration Time: '), Infinity);
  const notBefore = readTime(lines.take('Not Before: '), -Infinity);
  lines.take('Request ID: ');
  if (lines.take('Resources:') === '') lines.takeAll('- ');
  if (uri === undefined || version !== '1' || !lines.areOver) return undefined;
  if (chainId === undefined || nonce === undefined || !/^[a-zA-Z0-9]{8,}$/.test(nonce)) return undefined;
  if (issuedAt === undefined || expiresAt === undefined || notBefore === undefined) return undefined;
  const isOfSite = origin.isSafe && isOfDomain(uri, origin);
  return { domain: origin.domain, isOfSite, address, chainId, nonce, issuedAt, notBefore, expiresAt };
}

/** A cursor over the lines of a text. */
class Lines {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  get areOver(): boolean {
    return this.#at === this.#lines.length;
  }

  /** Consumes the next line; empty after the last one. */
  next(): string {
    return this.#lines[this.#at++] ?? '';
  }

  startsWith(name: string): boolean {
    return this.#lines[this.#at]?.startsWith(name) === true;
  }

  /** Consumes the next line if it begins with `name`, and returns the rest of it. */
  take(name: string): string | undefined {
    return this.startsWith(name) ? this.next().slice(name.length) : undefined;
  }

  takeAll(name: string): void {
    while (this.startsWith(name)) this.#at++;
  }

  /** Consumes the next line if it is blank; returns false otherwise. */
  skipBlank(): boolean {
    if (this.#lines[this.#at] !== '') return false;
    this.#at++;
    return true;
  }
}

interface Origin {
  readonly domain: string;
  readonly isLoopback: boolean;
  /** False when the message names a scheme without transport security. */
  readonly isSafe: boolean;
}

function readOrigin(line: string): Origin | undefined {
  if (!line.endsWith(FIRST_LINE_END)) return undefined;
  const origin = line.slice(0, -FIRST_LINE_END.length);
  const schemeEnd = origin.indexOf('://');
  const domain = (schemeEnd < 0 ? origin : origin.slice(schemeEnd + 3)).toLowerCase();
  if (!/^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.test(domain) || !URL.canParse(`https://${domain}`)) {
    return undefined;
  }
  const isLoopback = isLoopbackHost(new URL(`https://${domain}`).hostname);
  const isSafe = schemeEnd < 0 || isSafeScheme(origin.slice(0, schemeEnd).toLowerCase(), isLoopback);
  return { domain, isLoopback, isSafe };
}

function isSafeScheme(scheme: string, isLoopback: boolean): boolean {
  return scheme === 'https' || (scheme === 'http' && isLoopback);
}

/** @param host in the form of `URL.hostname` */
function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  );
}

/**
 * True when a URI (RFC 3986) belongs to the domain: it has the same host and port, and a secure scheme.
 */
function isOfDomain(uri: string, { domain, isLoopback }: Origin): boolean {
  // `URL` drops whitespace and control characters and treats a backslash as a slash, but no URI may contain them.
  if (!/^[\x21-\x7e]+$/.test(uri) || uri.includes('\\') || !URL.canParse(uri)) return false;
  const { protocol, host, username, password } = new URL(uri);
  if (!isSafeScheme(protocol.slice(0, -1), isLoopback) || username !== '' || password !== '') return false;
  // Compare under the URI's scheme, so that `URL` drops the same default port on both sides.
  return host === new URL(`${protocol}//${domain}`).host;
}

/** Reads an address in the mixed case of EIP-55, a checksum that EIP-4361 requires. */
function readAddress(text: string): Address | undefined {
  return isAddress(text, { strict: false }) && getAddress(text) === text ? text : undefined;
}

function readChainId(text: string | undefined): number | undefined {
  const id = text !== undefined && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}

/**
 * Parses a time (RFC 3339).
 * @param absent the result when the line is missing
 * @returns milliseconds since the epoch; undefined for an invalid time
 */
function readTime(text: string | undefined, absent?: number): number | undefined {
  if (text === undefined) return absent;
  const parts = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day] = parts.map(Number);
  // `Date` would accept February 30 as March 2.
  const lastDay = new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
  const time = Date.parse(text.toUpperCase());
  return (day ?? 0) > lastDay || Number.isNaN(time) ? undefined : time;
}

function isPrintable(line: string): boolean {
  return line !== '' && !/\p{Cc}/u.test(line);
}
