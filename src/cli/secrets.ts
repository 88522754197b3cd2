import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { createSealer } from '../adapters/platform/node/sealer.js';
import { loadSecretsKeys } from '../adapters/platform/node/secrets-keys.js';
import type { Config } from '../config.js';
import { rotateSecrets, type Rotated } from '../core/access/secret-rotation.js';
import type { Sealer } from '../core/ports/secret-store.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import { addKeptSecrets } from './kept-secrets.js';
import { SECRETS_KEY_FILE } from '../composition/data.js';
import { CommandError, INTERRUPTED, printJson, printTable, showProgress, type Terminal } from './terminal.js';

type Flags = ConfigFlags & { readonly json?: boolean };

/** `secrets rotate|list|prune`: manages the values that clients have stored for tools. */
export function secretsCommand(terminal: Terminal): Command {
  const secrets = new Command('secrets').description('manage the values that clients have stored for tools');
  withConfig(secrets.command('rotate'))
    .description(
      'encrypt every stored value again with the newest key of SECRETS_KEY; safe to repeat, and while the service runs',
    )
    .option('--json', 'print JSON')
    .action((flags: Flags) => rotate(terminal, flags));
  addKeptSecrets(secrets, terminal);
  return secrets;
}

async function rotate(terminal: Terminal, flags: Flags): Promise<void> {
  const stop = new AbortController();
  const show = showProgress(terminal);
  const release = terminal.onStop(() => {
    stop.abort(new Error('Interrupted'));
  });
  try {
    await withStore(flags, async ({ store }, config) => {
      const sealer = await sealerOf(config);
      const done = await rotateSecrets({ store, sealer }, stop.signal, (rotated) => {
        show(`${String(rotated)} values encrypted …`);
      });
      show('');
      report(terminal, flags, sealer, done, stop.signal.aborted);
    });
  } finally {
    release();
  }
}

/** Whether the key of secrets exists: a service whose database has no secrets may not have created it yet. */
export function hasKey(config: Config): boolean {
  const file = keyFileOf(config);
  return config.secretsKeys !== null || (file !== null && existsSync(file));
}

/** The path of the generated key; null if there is none with this database. */
function keyFileOf({ database }: Config): string | null {
  const isFile = database.kind === 'sqlite' && database.path !== null;
  return isFile ? join(dirname(database.path), SECRETS_KEY_FILE) : null;
}

/**
 * Creates the sealer of a configuration.
 * @throws CommandError when no key exists: a new key could not open the stored values
 * @throws Error when the key cannot be read
 */
export async function sealerOf(config: Config): Promise<Sealer> {
  const file = keyFileOf(config);
  if (!hasKey(config)) {
    throw new CommandError(
      `There is no key: SECRETS_KEY is not set${file === null ? '' : `, and there is no file ${file}`}`,
    );
  }
  return createSealer(await loadSecretsKeys(config.secretsKeys, file));
}

function report(terminal: Terminal, flags: Flags, sealer: Sealer, done: Rotated, stopped: boolean): void {
  const { rotated, unopened } = done;
  const places = counted(unopened);
  if (flags.json === true) {
    printJson(terminal, {
      key_id: sealer.keyId,
      rotated,
      complete: !stopped && unopened.length === 0,
      unopened: places.map(({ app, name, keyId, count }) => ({ app, name, key_id: keyId, count })),
    });
  } else {
    terminal.output.write(`${String(rotated)} values were encrypted with the key ${sealer.keyId}.\n`);
    if (unopened.length > 0) {
      terminal.output.write(
        `${String(unopened.length)} values are encrypted with keys that are not configured, or are damaged:\n`,
      );
      const rows = places.map(({ app, name, keyId, count }) => [app, name, keyId, String(count)]);
      printTable(terminal, ['APP', 'NAME', 'KEY', 'VALUES'], rows, '');
      terminal.output.write(
        'Add the missing keys to SECRETS_KEY and run this again, or have the clients store the values again.\n',
      );
    }
    if (stopped) terminal.output.write('Interrupted; run the command again to continue.\n');
  }
  if (stopped) terminal.setExitCode(INTERRUPTED);
  else if (unopened.length > 0) terminal.setExitCode(1);
}

/** Counts the values by App, name and key. The clients that own them are never shown. */
function counted(
  unopened: Rotated['unopened'],
): readonly (Rotated['unopened'][number] & { count: number })[] {
  const counts = new Map<string, Rotated['unopened'][number] & { count: number }>();
  for (const place of unopened) {
    const key = JSON.stringify([place.app, place.name, place.keyId]);
    counts.set(key, { ...place, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place);
}
