import type { Mistake } from './mistakes.js';
import { listed, oneOf, someOf, type Parse, type SettingsReader } from './settings.js';

/** A surface that can be enabled. */
export type SurfaceName = 'current' | 'legacy' | 'field';

/** Which surfaces are served, and where. */
export interface SurfaceConfig {
  readonly surfaces: readonly SurfaceName[];
  /** Who serves `/api`. */
  readonly rootSurface: 'merged' | 'field';
  /** Headers that carry the App key on the field surface, besides `SERVICE-APP-KEY` and `X-API-Key`. */
  readonly appKeyHeaders: readonly string[];
}

const MAX_HEADERS = 16;
/** The name of a header (RFC 9110, section 5.1). */
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,64}$/;
/** Headers that mean something else to the service or to HTTP. */
const TAKEN = new Set([
  ...['x-session-id', 'x-wallet-proof', 'x-request-id', 'idempotency-key', 'last-event-id', 'prefer'],
  ...['host', 'origin', 'cookie', 'accept', 'content-type', 'content-length', 'connection', 'user-agent'],
]);

/** Names of headers, separated by commas, each once. */
export const headerNames: Parse<readonly string[]> = (value) => {
  const names = listed(value);
  const isUsable = (name: string): boolean => HEADER.test(name) && !TAKEN.has(name.toLowerCase());
  const isUnique = new Set(names.map((name) => name.toLowerCase())).size === names.length;
  if (names.length > 0 && names.length <= MAX_HEADERS && names.every(isUsable) && isUnique)
    return { value: names };
  return {
    wrong: `must be up to ${String(MAX_HEADERS)} names of headers such as X-App-Key, separated by commas, each once, and none that HTTP or the service uses otherwise`,
  };
};

/** Reads the settings of the surfaces. */
export function surfacesOf(reader: SettingsReader): SurfaceConfig {
  return {
    surfaces: reader.read<readonly SurfaceName[]>(
      'SURFACES',
      ['current', 'legacy'],
      someOf(['current', 'legacy', 'field']),
    ),
    rootSurface: reader.read('ROOT_SURFACE', 'merged', oneOf(['merged', 'field'])),
    appKeyHeaders: reader.read<readonly string[]>('APP_KEY_HEADERS', [], headerNames),
  };
}

/** Finds settings of surfaces that contradict others. */
export function surfaceMistakes({
  surfaces,
  rootSurface,
  walletProof,
}: SurfaceConfig & { readonly walletProof: string }): readonly Mistake[] {
  const hasField = surfaces.includes('field');
  const rootless = {
    where: 'ROOT_SURFACE',
    what: 'is field, which SURFACES does not expose: add it, as in current,legacy,field',
  };
  const unproven = {
    where: 'WALLET_PROOF',
    what: 'must not be required while SURFACES exposes field, whose clients cannot prove their wallets',
  };
  return [
    ...(rootSurface === 'field' && !hasField ? [rootless] : []),
    ...(walletProof === 'required' && hasField ? [unproven] : []),
  ];
}
