const ENTRY = /^(?<host>\[[^\]]+\]|[^:/]+)(?::(?<port>\d{1,5}))?$/;

/** True when the operator allows a URL's host, or its host and port. */
export type AllowedHosts = (url: URL) => boolean;

/**
 * Parses entries such as `mcp.internal`, `127.0.0.1:9000`, `[::1]:9000` or `::1`. One without a port allows every port.
 * @throws Error when an entry has another form
 */
export function allowedHosts(entries: readonly string[]): AllowedHosts {
  const allowed = new Set(entries.map(normalized));
  return (url) => {
    const host = canonical(url.hostname);
    return allowed.has(host) || allowed.has(`${host}:${portOf(url)}`);
  };
}

function normalized(entry: string): string {
  const text = entry.trim();
  const isBareIpv6 = text.split(':').length > 2 && !text.startsWith('[');
  const { host, port } = ENTRY.exec(isBareIpv6 ? `[${text}]` : text)?.groups ?? {};
  const url = parse(`http://${host ?? ''}/`);
  if (url?.username !== '') {
    throw new Error(`An allowed host must be written as host or host:port, not "${entry}"`);
  }
  const name = canonical(url.hostname);
  return port === undefined ? name : `${name}:${String(Number(port))}`;
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Removes the trailing dot of a fully qualified name. `URL` has already made it lower case. */
function canonical(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'https:' ? '443' : '80';
}
