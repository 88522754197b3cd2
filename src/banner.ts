import type { Config } from './config.js';
import { describeDatabase } from './config/network.js';

/** How to add a model, while there is only the demo rig. */
const ADD_A_MODEL = [
  'There is no model but the demo. Add any, such as one of Ollama (docs/models.md shows others):',
  '  OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=llama3.2 npm start',
  '',
];

/**
 * Builds the start banner: the URL, the main settings and a command to try on each surface. The commands put no session
 * id and no message into a URL, because URLs are logged.
 */
export function describeStart(
  config: Pick<Config, 'surfaces' | 'apps' | 'database' | 'adminToken'>,
  running: {
    readonly url: string;
    readonly version: string;
    readonly rigs: readonly { readonly id: string; readonly provider: string }[];
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
    ['Admin', config.adminToken === null ? 'off; ADMIN_TOKEN enables /admin' : `${reachable}/admin`],
    ['Reference', `${reachable}/docs`],
  ] as const;
  const json = "-H 'Content-Type: application/json'";
  const session = '-H "X-Session-Id: $S"';
  const commands = {
    current: `curl -s ${session} ${json} -H 'Prefer: wait=30' -d '{"message":"Hello"}' '${reachable}/api/chat'`,
    field: `curl -s ${session} ${json} -H 'Prefer: wait=30' -d '{"message":"Hello"}' '${reachable}/field/api/chat'`,
    legacy: `curl -sN ${session} ${json} -d '{"text":"Hello"}' '${reachable}/api/thread/chat'`,
  };
  return [
    `Diptych ${version} listens on ${url}`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    '',
    ...(rigs.every(({ provider }) => provider === 'demo') ? ADD_A_MODEL : []),
    'Make a session id, which opens the conversation to everyone who knows it:',
    '  S=$(node -p "crypto.randomUUID()")',
    ...config.surfaces.flatMap((surface) => [`Try the ${surface} surface:`, `  ${commands[surface]}`]),
    '',
  ].join('\n');
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12 ? `${shown} and ${String(names.length - 12)} more` : shown;
}
