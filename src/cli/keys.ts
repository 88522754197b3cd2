import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { nodeDigests } from '../adapters/platform/node/digests.js';
import { systemClock } from '../adapters/platform/uuid/clock.js';
import { keyStatus, mintKey } from '../core/access/app-keys.js';
import type { Store } from '../core/ports/store.js';
import { isoDate } from '../config/settings.js';
import { withConfig, withStore, type ConfigFlags } from './configured.js';
import {
  CommandError,
  isoTime,
  jsonText,
  printJson,
  printTable,
  writeAll,
  type Terminal,
} from './terminal.js';

interface CreateFlags extends ConfigFlags {
  readonly app: readonly string[];
  readonly label: string;
  readonly expires?: string;
  readonly json?: boolean;
}

/** `keys create|list|revoke`: manages the App keys. */
export function keysCommand(terminal: Terminal): Command {
  const keys = new Command('keys').description('create, list and revoke App keys');
  withConfig(keys.command('create'))
    .description('create a key; it is shown only once, and only its digest is stored')
    .requiredOption('--app <name>', 'an App that the key authorizes (repeatable)', collect)
    .option('--label <text>', 'a note on its purpose', '')
    .option('--expires <when>', 'a time from now such as 30d, 12h or 45m, or a date such as 2027-01-31')
    .option('--json', 'print JSON')
    .action((flags: CreateFlags) => create(terminal, flags));
  withConfig(keys.command('list'))
    .description('list the keys, without their secret parts')
    .option('--json', 'print JSON')
    .action((flags: ConfigFlags & { json?: boolean }) => list(terminal, flags));
  withConfig(keys.command('revoke'))
    .description('revoke a key; a running service refuses it within 5 seconds')
    .argument('<id>', 'the id that `keys list` shows')
    .option('--json', 'print JSON')
    .action((id: string, flags: ConfigFlags & { json?: boolean }) => revoke(terminal, id, flags));
  return keys;
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

async function create(terminal: Terminal, flags: CreateFlags): Promise<void> {
  const expiresAt = flags.expires === undefined ? null : expiry(flags.expires, systemClock.now());
  await withStore(
    flags,
    async ({ store }, config) => {
      const { key, stored } = mintKey({
        apps: flags.app,
        label: flags.label,
        expiresAt,
        randomBytes,
        clock: systemClock,
        digests: nodeDigests,
      });
      const known = config.apps.map(({ name }) => name);
      const unknown = stored.apps.filter((name) => !known.includes(name));
      if (unknown.length > 0) {
        terminal.errors.write(
          `note: not in the configuration yet: ${unknown.join(', ')}; known Apps: ${known.join(', ')}\n`,
        );
      }
      await store.saveKey(stored);
      const { id, apps, label } = stored;
      try {
        const fields = { id, key, apps, label, expires_at: timeOrNull(stored.expiresAt) };
        await writeAll(terminal, flags.json === true ? jsonText(fields) : `${key}\n`);
      } catch (error) {
        throw await withdraw(store, id, error);
      }
      if (flags.json === true) return;
      const until = stored.expiresAt === null ? 'does not expire' : `expires ${isoTime(stored.expiresAt)}`;
      terminal.errors.write(
        `Key ${id} for ${apps.join(', ')} (${until}). It is not shown again: store it now.\n`,
      );
    },
    { creates: true },
  );
}

/** Revokes a key that nobody saw. Returns the error to report. */
async function withdraw(store: Store, id: string, cause: unknown): Promise<CommandError> {
  const isRevoked = await store.revokeKey(id, systemClock.now()).catch(() => false);
  const outcome = isRevoked ? `so it was revoked again: ${id}` : `revoke it with \`keys revoke ${id}\``;
  return new CommandError(`The new key could not be shown, ${outcome}`, 1, { cause });
}

async function list(terminal: Terminal, flags: ConfigFlags & { json?: boolean }): Promise<void> {
  const keys = await withStore(flags, ({ store }) => store.listKeys());
  const now = systemClock.now();
  if (flags.json === true) {
    const rows = keys.map((key) => ({
      id: key.id,
      apps: key.apps,
      label: key.label,
      status: keyStatus(key, now),
      created_at: isoTime(key.createdAt),
      expires_at: timeOrNull(key.expiresAt),
      revoked_at: timeOrNull(key.revokedAt),
    }));
    printJson(terminal, rows);
    return;
  }
  const rows = keys.map((key) => [
    key.id,
    keyStatus(key, now),
    key.apps.join(','),
    isoTime(key.createdAt),
    timeOrNull(key.expiresAt) ?? 'never',
    key.label,
  ]);
  printTable(terminal, ['ID', 'STATUS', 'APPS', 'CREATED', 'EXPIRES', 'LABEL'], rows, 'There are no keys.');
}

async function revoke(
  terminal: Terminal,
  id: string,
  flags: ConfigFlags & { json?: boolean },
): Promise<void> {
  const found = await withStore(flags, ({ store }) => store.revokeKey(id, systemClock.now()));
  if (!found) throw new CommandError(`There is no key ${id}; \`keys list\` shows the ids`);
  if (flags.json === true) printJson(terminal, { id, revoked: true });
  else terminal.output.write(`Revoked ${id}.\n`);
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a time from now (`30d`) or a date.
 * @returns milliseconds since the epoch
 * @throws CommandError when it is invalid or not in the future
 */
function expiry(text: string, now: number): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const milliseconds = UNITS[unit];
  const at = milliseconds === undefined ? dateOf(text) : now + Number(count) * milliseconds;
  if (at > now) return at;
  throw new CommandError('--expires takes a time in the future, such as 30d, 12h, 45m, or 2027-01-31', 2);
}

function dateOf(text: string): number {
  const date = isoDate(text);
  return 'value' in date ? date.value : NaN;
}
