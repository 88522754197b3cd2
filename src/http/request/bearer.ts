import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether an `Authorization` header carries this token as `Bearer`. Takes the same time whatever was sent. */
export function carriesToken(authorization: string | undefined, token: string): boolean {
  const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
