import { isIP } from 'node:net';
import { listed, type Parse } from './settings.js';

/** The origins that CORS allows. */
export type CorsOrigins = '*' | readonly string[];

/** Express's `trust proxy`: the number or addresses of proxies whose `X-Forwarded-*` headers are trusted. */
export type TrustProxy = boolean | number | readonly string[];

/** An address or a name to listen on. */
export const listenAddress: Parse<string> = (value) =>
  isIP(value) !== 0 || /^[^\s:/[\]]+$/.test(value)
    ? { value }
    : { wrong: 'must be an address without brackets, scheme or port, such as 127.0.0.1, 0.0.0.0 or ::1' };

/** `*`, or origins separated by commas. */
export const corsOrigins: Parse<CorsOrigins> = (value) => {
  if (value === '*') return { value };
  const origins = listed(value);
  const fits = origins.length > 0 && origins.every(isOrigin);
  if (fits) return { value: origins.map((origin) => origin.toLowerCase()) };
  return {
    wrong: 'must be * or whole origins such as https://app.example.com, separated by commas, without a path',
  };
};

/** A browser names each origin in full: one with `*` in its host would match none. */
function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value.toLowerCase() && !value.includes('*');
}

const PROXY_WORDS = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Sites as `host` or `host:port`, separated by commas. The values are in lower case. */
export const siteNames: Parse<readonly string[]> = (value) => {
  const sites = listed(value).map((site) => site.toLowerCase());
  const isSite = (site: string): boolean =>
    URL.canParse(`http://${site}`) && /^[a-z0-9.-]+(:\d{1,5})?$/.test(site);
  if (sites.length > 0 && sites.every(isSite)) return { value: sites };
  return { wrong: 'must be hosts such as app.example.org or localhost:3000, separated by commas' };
};

/** Chain ids (EIP-155), separated by commas without repetition, or `none`. */
export const chainIds: Parse<readonly number[]> = (value) => {
  if (value === 'none') return { value: [] };
  const ids = listed(value).map((id) => (/^[1-9]\d{0,14}$/.test(id) ? Number(id) : NaN));
  const fits = ids.length > 0 && !ids.some(Number.isNaN) && new Set(ids).size === ids.length;
  if (fits) return { value: ids };
  return { wrong: 'must be none, or ids of chains such as 1 or 10, separated by commas, each once' };
};

/** `off`, `on`, a number of proxies, or a list of addresses, networks and Express's names for networks. */
export const trustProxy: Parse<TrustProxy> = (value) => {
  if (/^(off|false|no)$/i.test(value)) return { value: false };
  if (/^(on|true|yes)$/i.test(value)) return { value: true };
  if (/^\d{1,3}$/.test(value)) return { value: Number(value) };
  const places = listed(value);
  if (places.length > 0 && places.every(isNetwork)) return { value: places };
  return {
    wrong:
      'must be off, on, a number of proxies, or addresses such as loopback or 10.0.0.0/8, separated by commas',
  };
};

function isNetwork(value: string): boolean {
  if (PROXY_WORDS.has(value)) return true;
  const [address = '', bits, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  // Express refuses a network of 0 bits, which would be every address.
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** The location of the data. `path` null: a temporary file that is deleted at shutdown. */
export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly path: string | null }
  /** The URL may contain a password and must not be shown. */
  | { readonly kind: 'postgres'; readonly url: string };

/** What makes most URLs with a password invalid. */
const PASSWORD = 'a password has its special characters percent-encoded, such as %2F for /';

/** `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. */
export const databaseUrl: Parse<DatabaseLocation> = (value) => {
  if (/^postgres(ql)?:\/\//i.test(value)) {
    const url = serverUrl(value);
    if (url === undefined)
      return { wrong: `must be a URL such as postgres://user:password@host:5432/database; ${PASSWORD}` };
    const wrong = wrongTls(url);
    return wrong === undefined ? { value: { kind: 'postgres', url: value } } : { wrong };
  }
  const path = /^sqlite:(.+)$/.exec(value)?.[1];
  if (path === undefined || (path.startsWith(':') && path !== ':memory:')) {
    return {
      wrong:
        'must be sqlite:PATH, such as sqlite:./data/diptych.db, sqlite::memory:, or postgres://user@host/database',
    };
  }
  // Other programs take it for a relative path or for the name of a host.
  if (/^\/\/(?!\/)/.test(path)) {
    return {
      wrong:
        'must not have two slashes: sqlite:./data/x.db is relative to the working directory, sqlite:/data/x.db absolute',
    };
  }
  // What a shell would replace, or SQLite take as parameters, would be part of the name of a new file.
  if (path.startsWith('~') || path.includes('?')) {
    return { wrong: 'must have a path that does not begin with ~ and has no parameters after ?' };
  }
  if (path.endsWith('/')) return { wrong: 'must name a file, such as diptych.db in that folder' };
  return { value: { kind: 'sqlite', path: path === ':memory:' ? null : path.replace(/^\/\/(?=\/)/, '') } };
};

/** The parameters for TLS that the driver of PostgreSQL reads. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'];
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** Describes a parameter for TLS that the driver would ignore, and perhaps not encrypt. Undefined: there is none. */
function wrongTls({ searchParams }: URL): string | undefined {
  for (const [name, value] of searchParams) {
    if (/ssl|tls/i.test(name) && !TLS_PARAMETERS.includes(name))
      return `has a parameter for TLS that does not exist; there are ${TLS_PARAMETERS.join(', ')}`;
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      return `has an sslmode that does not exist; there are ${SSL_MODES.join(', ')}`;
  }
  return undefined;
}

/** Describes the database for the start banner, without user and password. */
export function describeDatabase(database: DatabaseLocation): string {
  if (database.kind === 'sqlite') return database.path ?? 'a temporary file, deleted at shutdown';
  const { host, pathname } = new URL(database.url);
  return `PostgreSQL at ${host === '' ? 'its default socket' : host}${pathname}`;
}

/** `redis://` or `rediss://`. */
export const redisUrl: Parse<string> = (value) => {
  const url = /^rediss?:\/\//.test(value) ? serverUrl(value) : undefined;
  return url !== undefined && isDecodable(url)
    ? { value }
    : { wrong: `must be a URL such as redis://host:6379, or rediss://… for TLS; ${PASSWORD}` };
};

/** Parses the URL of a server. Undefined if it is none, or its password is not encoded. */
function serverUrl(value: string): URL | undefined {
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  // A `/` or `#` in the password ended the host: the rest of it is the path, which is shown.
  return `${url.pathname}${url.hash}`.includes('@') ? undefined : url;
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Keys of 32 bytes in base64, separated by commas, newest first. */
export const secretsKeys: Parse<readonly string[]> = (value) => {
  const keys = listed(value);
  const fits = keys.length > 0 && keys.every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key));
  if (fits && new Set(keys).size === keys.length) return { value: keys };
  return {
    wrong:
      'must be 32 bytes in base64 (`openssl rand -base64 32` generates one); several are separated by commas, ' +
      'newest first, each once',
  };
};
