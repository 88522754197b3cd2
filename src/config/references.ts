import type { App } from '../core/model/app.js';
import { spoken } from './crosscheck.js';
import type { Mistake } from './mistakes.js';

/** Finds references of Apps to unknown rigs and tools. */
export function findDangling(
  config: { readonly file: string | null; readonly apps: readonly App[] },
  known: { readonly rigs: readonly string[]; readonly tools: readonly string[] },
): readonly Mistake[] {
  const kinds = [
    ['rigs', 'rig'],
    ['tools', 'tool'],
  ] as const;
  return config.apps.flatMap((app) =>
    kinds.flatMap(([key, word]) =>
      (app[key] ?? [])
        // Not checked for tool servers: their tools are known only while they run.
        .filter(
          (name) =>
            !known[key].includes(name) && !app.toolServers.some((server) => name.startsWith(`${server}.`)),
        )
        .map((name) => ({
          where: `${config.file ?? 'configuration'}: App ${app.name}: ${key}`,
          what: `there is no ${word} ${JSON.stringify(name)}; there are ${spoken(known[key])}`,
        })),
    ),
  );
}
