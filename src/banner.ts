import { randomUUID } from 'node:crypto';
import type { Config } from './config.js';
import { describeDatabase } from './config/network.js';

/** What a person reads at the start: where the service listens, what it offers, and a command to try on each surface. */
export function describeStart(
  config: Pick<Config, 'surfaces' | 'apps' | 'database'>,
  running: {
    readonly url: string;
    readonly version: string;
    readonly rigs: readonly { readonly id: string }[];
    readonly hasPage: boolean;
  },
): string {
  const { url, version, rigs, hasPage } = running;
  const reachable = url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  const facts = [
    ...(hasPage ? [['Page', `${reachable}/`] as const] : []),
    ['Surfaces', config.surfaces.join(', ')],
    ['Rigs', shortList(rigs.map(({ id }) => id))],
    ['Apps', shortList(config.apps.map(({ name }) => name))],
    ['Data', describeDatabase(config.database)],
  ] as const;
  const header = `-H 'X-Session-Id: ${randomUUID()}'`;
  const commands = {
    current: `curl -s -X POST ${header} -H 'Prefer: wait=30' '${reachable}/api/chat?message=Hello'`,
    legacy: `curl -sN ${header} -H 'Content-Type: application/json' -d '{"text":"Hello"}' '${reachable}/api/thread/chat'`,
  };
  return [
    `Diptych ${version} listens on ${url}`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
    ...config.surfaces.flatMap((surface) => [`Try the ${surface} surface:`, `  ${commands[surface]}`]),
    '',
  ].join('\n');
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12 ? `${shown} and ${String(names.length - 12)} more` : shown;
}
