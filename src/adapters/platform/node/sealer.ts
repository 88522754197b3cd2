import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Sealer } from '../../../core/ports/secret-store.js';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates a sealer that encrypts with AES-256-GCM (NIST SP 800-38D). A sealed value is nonce, tag and ciphertext in
 * base64. The first key seals new values; the others open existing ones, so that keys can be rotated online. A key's id
 * is the start of its SHA-256 digest.
 * @param keys 32 bytes each, newest first
 * @throws RangeError when there is no key, or a key has another length
 */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  const [newest] = keys;
  if (newest === undefined) throw new RangeError('a sealer needs at least one key');
  const keyId = keyIdOf(newest);
  return {
    keyId,
    keyIds: [...byId.keys()],
    seal(value, context) {
      // A random 96-bit nonce per value: the standard allows this for at most 2^32 values per key.
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return { keyId, sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64') };
    },
    open(secret, context) {
      const key = byId.get(secret.keyId);
      if (key === undefined) throw new Error(`no key with the id ${secret.keyId} is configured`);
      const bytes = Buffer.from(secret.sealed, 'base64');
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
    },
  };
}

function keyIdOf(key: Buffer): string {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key must have ${String(KEY_BYTES)} bytes`);
  return createHash('sha256').update(key).digest('hex').slice(0, 16);
}
