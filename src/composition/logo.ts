import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { codeOf } from '../adapters/platform/node/error-code.js';
import { ConfigError } from '../config/mistakes.js';
import type { Config } from '../config.js';
import type { Logo } from '../pages/chat-page.js';

/** Maximum size of a logo, in bytes. */
const MAX_BYTES = 262_144;

/**
 * Reads the logo of the page. Null: none is configured.
 * @throws ConfigError if it cannot be read, is too large, or is not an image
 */
export async function readLogo({
  file,
  pageSettings,
}: Pick<Config, 'file' | 'pageSettings'>): Promise<Logo | null> {
  const { logo } = pageSettings;
  if (logo === null || file === null) return null;
  const path = resolve(dirname(file), logo);
  const mistake = (what: string): ConfigError =>
    new ConfigError([{ where: `${basename(file)}: page.logo`, what }]);
  let body: Buffer;
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw mistake(`must have at most ${String(MAX_BYTES)} bytes; ${path} has ${String(size)}`);
    body = await readFile(path);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = codeOf(error) ?? String(error);
    throw mistake(code === 'ENOENT' ? `there is no file ${path}` : `${path} cannot be read (${code})`);
  }
  const kind = kindOf(body);
  if (kind === undefined) throw mistake(`${path} is not an image of the kind SVG, PNG, JPEG or WebP`);
  return { ...kind, body };
}

/** Recognizes an image by its content. */
function kindOf(body: Buffer): Pick<Logo, 'type' | 'extension'> | undefined {
  if (body.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n')
    return { type: 'image/png', extension: 'png' };
  if (body.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])))
    return { type: 'image/jpeg', extension: 'jpg' };
  if (body.subarray(0, 4).toString('latin1') === 'RIFF' && body.subarray(8, 12).toString('latin1') === 'WEBP')
    return { type: 'image/webp', extension: 'webp' };
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  const isSvg =
    /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE\s+svg[^>[]*>\s*)*<svg[\s>]/i.test(text);
  return isSvg ? { type: 'image/svg+xml', extension: 'svg' } : undefined;
}
