/**
 * Returns the `Authorization` for the user name and password of a URL (RFC 7617), which HTTP clients ignore or refuse.
 * Undefined: the URL has none.
 */
export function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** Decodes a part of a URL; one with a percent sign that encodes nothing stays as it is. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
