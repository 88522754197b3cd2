import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { nodeDigests } from '../adapters/platform/node/digests.js';
import { SECRETS_KEY_FILE } from '../composition/data.js';
import { databaseUrl, describeDatabase, type DatabaseLocation } from '../config/network.js';
import { LEASE_MS } from '../core/model/settings.js';
import { copyAll, summarize, type Summary, type TableCopy, type Transfer } from '../core/ports/transfer.js';
import { TRANSFER_TABLES } from '../core/ports/transfer-tables.js';
import { warnOfMissing } from './configured.js';
import { CommandError, INTERRUPTED, printJson, printTable, showProgress, type Terminal } from './terminal.js';

interface Flags {
  readonly from: DatabaseLocation;
  readonly to: DatabaseLocation;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** A table compared on both sides after the copy. */
interface Compared extends TableCopy {
  readonly source: Summary;
  readonly target: Summary;
  /** Rows of the source that are not copied, because their session or turn does not exist. */
  readonly orphans: number;
  readonly same: boolean;
}

/** `migrate --from URL --to URL`: copies all data into another database. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description(
      'copy all data to another database and compare both; stop the service first. If interrupted, run it again to continue',
    )
    .requiredOption('--from <url>', 'the source database: sqlite:PATH or postgres://…', locationOf('--from'))
    .requiredOption(
      '--to <url>',
      'the target database, which may be empty or not exist yet',
      locationOf('--to'),
    )
    .option('--force', 'run even if a node seems to use one of the databases')
    .option('--json', 'print JSON')
    .action((flags: Flags) => migrate(terminal, flags));
}

/** Parses the URL of a flag. Its errors do not quote the URL, which may contain a password. */
function locationOf(flag: string): (value: string) => DatabaseLocation {
  return (value) => {
    const parsed = databaseUrl(value);
    if ('wrong' in parsed) throw new CommandError(`${flag} ${parsed.wrong}`, 2);
    if (parsed.value.kind === 'postgres') return parsed.value;
    const { path } = parsed.value;
    if (path === null)
      throw new CommandError(`${flag} must not be sqlite::memory:, which ends with its process`, 2);
    return { kind: 'sqlite', path: resolve(path) };
  };
}

async function migrate(terminal: Terminal, flags: Flags): Promise<void> {
  await between(flags, async (from, to) => {
    if ((await from.identity()) === (await to.identity())) {
      throw new CommandError('--from and --to are the same database', 2);
    }
    if (flags.force !== true) await refuseServed({ from, to });
    const stop = new AbortController();
    const interrupted = new CommandError('Interrupted; run the command again to continue.', INTERRUPTED);
    // Only now: opening may wait for the migration of a node, and a signal then ends the process by default.
    const release = terminal.onStop(() => {
      stop.abort(interrupted);
    });
    try {
      report(terminal, flags, await copyAndCompare(terminal, { from, to }, stop.signal));
    } finally {
      release();
    }
  });
}

/** Opens both databases for `work` and closes them afterwards. */
async function between(flags: Flags, work: (from: Transfer, to: Transfer) => Promise<void>): Promise<void> {
  const from = await open(flags.from, { mustExist: true });
  try {
    const to = await open(flags.to, { mustExist: false });
    try {
      await work(from, to);
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function open(database: DatabaseLocation, options: { mustExist: boolean }): Promise<Transfer> {
  if (database.kind === 'postgres') {
    const { openPostgresTransfer } = await import('../adapters/stores/postgres/transfer.js');
    return openPostgresTransfer(database.url, options);
  }
  const { openSqliteTransfer } = await import('../adapters/stores/sqlite/transfer.js');
  const path = String(database.path);
  // A new target has no data that could be missing, also when its key is there already.
  const source = { companions: [join(dirname(path), SECRETS_KEY_FILE)], onMissing: warnOfMissing };
  return openSqliteTransfer(path, { ...options, ...(options.mustExist && source) });
}

/** Refuses to migrate while a node holds turns. No guarantee: an idle node holds none and goes unnoticed. */
async function refuseServed(sides: { readonly from: Transfer; readonly to: Transfer }): Promise<void> {
  for (const [flag, side] of Object.entries(sides)) {
    const { held } = await side.openTurns(LEASE_MS);
    if (held === 0) continue;
    throw new CommandError(
      `A node uses --${flag}: ${String(held)} turn${held === 1 ? ' runs' : 's run'} there. Stop the node; if it was killed, ` +
        'wait 6 seconds. Unfinished turns continue in the new database. Or use --force.',
    );
  }
}

/** @throws the reason of `signal` when it aborts */
async function copyAndCompare(
  terminal: Terminal,
  { from, to }: { readonly from: Transfer; readonly to: Transfer },
  signal: AbortSignal,
): Promise<readonly Compared[]> {
  const show = showProgress(terminal);
  try {
    const copies = await copyAll({ from, to }, signal, (table, rows) => {
      show(`${table}: ${String(rows)} rows`);
    });
    if (copies.length < TRANSFER_TABLES.length) signal.throwIfAborted();
    await to.settle();
    const compared: Compared[] = [];
    for (const copy of copies) {
      show(`${copy.table}: comparing`);
      const [source, target] = await Promise.all([
        summarize(from, copy.table, nodeDigests, signal),
        summarize(to, copy.table, nodeDigests, signal),
      ]);
      const orphans = await from.orphans(copy.table);
      const same = orphans === 0 && source.digest === target.digest && source.rows === target.rows;
      compared.push({ ...copy, source, target, orphans, same });
    }
    return compared;
  } finally {
    show('');
  }
}

function report(terminal: Terminal, flags: Flags, tables: readonly Compared[]): void {
  const complete = tables.every(({ same }) => same);
  if (flags.json === true) {
    const shown = tables.map(({ source, target, ...table }) => ({
      ...table,
      rows: target.rows,
      source_rows: source.rows,
      digest: target.digest,
      source_digest: source.digest,
    }));
    printJson(terminal, {
      from: describeDatabase(flags.from),
      to: describeDatabase(flags.to),
      complete,
      tables: shown,
    });
  } else {
    printTable(
      terminal,
      ['TABLE', 'ROWS', 'COPIED', 'PRESENT', 'SHA-256', ''],
      tables.map(({ table, target, copied, present, same }) => [
        ...[table, target.rows, copied, present].map(String),
        target.digest.slice(0, 12),
        same ? 'same' : 'DIFFERS',
      ]),
      '',
    );
    terminal.output.write(complete ? nextSteps(flags, tables) : `${differences(tables).join('\n')}\n`);
  }
  if (!complete) terminal.setExitCode(1);
}

function differences(tables: readonly Compared[]): readonly string[] {
  const differing = tables.filter(({ same }) => !same);
  const lines = differing.map(
    ({ table, source, target, different, extra, orphans }) =>
      `${table}: ${String(source.rows)} rows in the source, ${String(target.rows)} in the target; ` +
      `${String(different)} with different content, ${String(extra)} that the source does not have` +
      (orphans === 0 ? '' : `; ${String(orphans)} of the source without a session or turn, not copied`),
  );
  if (differing.some(({ orphans }) => orphans > 0)) lines.push(...ORPHANS);
  if (differing.some(({ source, target }) => source.digest !== target.digest)) lines.push(...OTHERS);
  return lines;
}

const ORPHANS = [
  'Another program has changed the source: rows whose session or turn does not exist cannot be copied.',
  'Delete such rows in the source, and run the command again, or use the target without them.',
];
const OTHERS = [
  'The databases differ. Either the source changed during the copy, or the target had other data, which was not changed.',
  'Stop the services that use them, and copy into an empty database.',
];

function nextSteps({ from, to }: Flags, tables: readonly Compared[]): string {
  const done = `${describeDatabase(to)} holds what ${describeDatabase(from)} holds. Set DATABASE_URL to the new database, and do not serve the old one again.\n`;
  const sealed = tables.some(({ table, source }) => table === 'secrets' && source.rows > 0);
  if (!sealed) return done;
  const file = from.kind === 'sqlite' ? join(dirname(String(from.path)), SECRETS_KEY_FILE) : null;
  const key = file !== null && existsSync(file) ? `the content of ${file}` : 'unchanged';
  return `${done}Clients' secrets were copied encrypted: SECRETS_KEY must be ${key}.\n`;
}
