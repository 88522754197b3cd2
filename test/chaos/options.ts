import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { TROUBLES } from './troubles.js';
import { WEATHER } from './weather/all.js';

/** What a run is to do. */
export interface RunOptions {
  readonly nodes: number;
  readonly store: 'sqlite' | 'postgres';
  readonly redis: boolean;
  readonly kills: number;
  readonly rounds: number;
  /** Ends the run after the fault during which this time is over, whatever was killed; null: no limit. */
  readonly minutes: number | null;
  /** Where the figures are written; null: nowhere. */
  readonly json: string | null;
  readonly clients: number;
  /** People whose wallets pay, beside those who chat. */
  readonly payers: number;
  readonly seed: string;
  readonly app: string | undefined;
  readonly from: string | undefined;
  readonly build: boolean;
  readonly keep: boolean;
  /** The kinds of weather and trouble that take part. */
  readonly selected: ReadonlySet<string>;
  /** Whether `--only` names it. */
  readonly isNamed: (name: string) => boolean;
}

/** An option that is not right; its message is for the person who gave it. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

const NAMES: readonly string[] = [...WEATHER.map(({ name }) => name), ...Object.keys(TROUBLES)];

export const HELP = `npm run chaos -- [options]

  --nodes N         how many services (1)
  --store NAME      sqlite | postgres (sqlite for one node, else postgres); PostgreSQL and Redis are started for the run
  --redis yes|no    whether the services have a Redis (yes on PostgreSQL, no on SQLite)
  --kills N         SIGKILLs in all, about so (100); the other weather comes on top
  --minutes M       ends the run after so many minutes instead, in the middle of a round (no limit)
  --rounds N        rounds of all weather at least (1)
  --clients C       people who chat at once, on both surfaces and on any node (12)
  --payers P        people whose wallets pay at once, beside them (3)
  --seed WORD       replays the choices of a run (not its timing)
  --only A,B        these kinds alone
  --without A,B     all but these
  --no-build        use dist/ as it is
  --app DIR         use the build of another folder (dist/, package.json, node_modules)
  --from DIR        a rolling deploy: begin with the build of that folder, an earlier version, and start what was ended as the other
  --json FILE       write what was counted as JSON
  --keep            keep the data and the logs even when all is well

Weather, one kind at a time
${list(WEATHER.map(({ name, about }) => [name, about]))}
Trouble, all the time
${list(Object.entries(TROUBLES))}`;

/** @throws OptionError */
export function optionsOf(args: readonly string[]): RunOptions | 'help' {
  const { values } = parsed(args);
  if (values.help) return 'help';
  const nodes = count('nodes', values.nodes, 1);
  const store = choice('store', values.store ?? (nodes === 1 ? 'sqlite' : 'postgres'), [
    'sqlite',
    'postgres',
  ]);
  const redis = choice('redis', values.redis ?? (store === 'postgres' ? 'yes' : 'no'), ['yes', 'no']);
  const [only, without] = [names('only', values.only), names('without', values.without)];
  const selected = NAMES.filter((name) => (only ?? NAMES).includes(name) && !(without ?? []).includes(name));
  return {
    ...{ nodes, store, redis: redis === 'yes' },
    kills: count('kills', values.kills, 0),
    rounds: count('rounds', values.rounds, 1),
    minutes: values.minutes === undefined ? null : count('minutes', values.minutes, 1),
    json: values.json ?? null,
    clients: count('clients', values.clients, 1),
    payers: count('payers', values.payers, 1),
    ...{ seed: values.seed, app: values.app, from: values.from, keep: values.keep },
    build: !values['no-build'] && values.app === undefined,
    selected: new Set(selected),
    isNamed: (name) => only?.includes(name) ?? false,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        nodes: { type: 'string', default: '1' },
        store: { type: 'string' },
        redis: { type: 'string' },
        kills: { type: 'string', default: '100' },
        rounds: { type: 'string', default: '1' },
        minutes: { type: 'string' },
        json: { type: 'string' },
        clients: { type: 'string', default: '12' },
        payers: { type: 'string', default: '3' },
        seed: { type: 'string', default: randomUUID().slice(0, 8) },
        only: { type: 'string' },
        without: { type: 'string' },
        app: { type: 'string' },
        from: { type: 'string' },
        'no-build': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (cause) {
    throw new OptionError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function count(option: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least)
    throw new OptionError(`--${option} takes an integer from ${String(least)} on, not ${text}`);
  return value;
}

function choice<T extends string>(option: string, text: string, among: readonly T[]): T {
  const found = among.find((one) => one === text);
  if (found === undefined) throw new OptionError(`--${option} takes ${among.join(' or ')}, not ${text}`);
  return found;
}

function names(option: string, text: string | undefined): readonly string[] | undefined {
  const given = text?.split(',').filter((name) => name !== '');
  const unknown = given?.find((name) => !NAMES.includes(name));
  if (unknown === undefined) return given;
  throw new OptionError(`--${option}: there is no ${unknown}; there are ${NAMES.join(', ')}`);
}

function list(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([name, about]) => `  ${name.padEnd(16)}  ${about}\n`).join('');
}
