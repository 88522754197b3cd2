import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from './error-code.js';
import { closeToOthers, PRIVATE } from './private-mode.js';
import { syncFolder } from './sync-folder.js';

const KEY_BYTES = 32;
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=$/;
/** Error codes of file systems without hard links. */
const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Loads the keys that seal secrets, newest first: the configured ones, or else the key in `file`, which is created on
 * first use. The file gets mode 0600, because copies and volumes can leave it open to others.
 * @param configured base64, 32 bytes each
 * @param file null: keys must be configured
 * @throws Error when the file does not hold a key: a new key could not open the existing secrets
 */
export async function loadSecretsKeys(
  configured: readonly string[] | null,
  file: string | null,
): Promise<readonly Buffer[]> {
  if (configured !== null) return configured.map((key) => Buffer.from(key, 'base64'));
  if (file === null) throw new Error('SECRETS_KEY must be set with this database');
  const kept = await readKey(file);
  if (kept !== undefined) return [kept];
  const made = randomBytes(KEY_BYTES);
  const text = `${made.toString('base64')}\n`;
  const draft = `${file}.${made.toString('hex', 0, 4)}`;
  try {
    await writeFile(draft, text, { flag: 'wx', mode: PRIVATE, flush: true });
    // Atomic and exclusive: of two processes that start at the same time, one creates the key and the other reads it.
    await link(draft, file);
    return [made];
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined && WITHOUT_LINKS.has(code)) {
      await writeFile(file, text, { flag: 'wx', mode: PRIVATE, flush: true });
      return [made];
    }
    const theirs = code === 'EEXIST' ? await readKey(file) : undefined;
    if (theirs === undefined) throw error;
    return [theirs];
  } finally {
    await rm(draft, { force: true });
    // What is sealed from now on needs this key.
    await syncFolder(dirname(file));
  }
}

/** @throws Error when the file exists but cannot be read or does not hold a key */
async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    throw new Error(`cannot read the key of secrets ${file} (${code ?? 'no code'})`, { cause: error });
  }
  if (!BASE64_KEY.test(text.trim()))
    throw new Error(`${file} does not hold a key of ${String(KEY_BYTES)} bytes in base64`);
  closeToOthers(file);
  return Buffer.from(text.trim(), 'base64');
}
