import { createHash, timingSafeEqual } from 'node:crypto';

/** True when an `Authorization` header carries this token as `Bearer`. Compares in constant time. */
export function carriesToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
