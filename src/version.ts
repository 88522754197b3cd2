import { readFileSync } from 'node:fs';
import { isJsonObject } from './core/model/json.js';

/** Reads the version from `package.json`, which is in the parent directory of both `src` and `dist`. */
export function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version = isJsonObject(manifest) ? manifest.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}
