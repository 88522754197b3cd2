/** A row of the proof: a program, and what it counts. */
export interface Row {
  readonly name: string;
  /** What is proved, in words for the page. */
  readonly title: string;
  /** What is counted toward the goal: a name among the counts of the program. */
  readonly counted: string;
  readonly goal: number;
  /** Its unit in the table. */
  readonly unit: string;
  /** The command of this row alone, without `--json`. */
  readonly command: readonly [string, ...string[]];
  /** How much one run does; absent: the program's own measure of time. */
  readonly each?: number;
}

const CHAOS: Row['command'] = ['npm', 'run', '--silent', 'chaos', '--', '--no-build'];
/** Kills alone, so that there are many; a run of chaos without this has all other faults too. */
const KILLS: Row['command'] = [...CHAOS, '--only', 'kill,rename,delete,provider', '--clients', '6'];
const program = (name: string): Row['command'] => [
  'npx',
  'tsx',
  `test/proof/programs/${name}.ts`,
  '--no-build',
];

/** Every row, in the order of the page. */
export const ROWS: readonly Row[] = [
  {
    name: 'kills',
    title: 'One node on SQLite is killed at random',
    counted: 'kills',
    goal: 4_000,
    unit: 'SIGKILLs',
    command: KILLS,
  },
  {
    name: 'kills-of-nodes',
    title: 'Three nodes on PostgreSQL and Redis are killed at random',
    counted: 'kills',
    goal: 4_000,
    unit: 'SIGKILLs',
    command: [...KILLS, '--nodes', '3'],
  },
  {
    name: 'kills-on-one-file',
    title: 'Three services on one SQLite file are killed at random',
    counted: 'kills',
    goal: 2_000,
    unit: 'SIGKILLs',
    command: [...KILLS, '--nodes', '3', '--store', 'sqlite'],
  },
  {
    name: 'wallets',
    title: 'Wallets approve, reject and lie while the service is killed',
    counted: 'walletReports',
    goal: 10_000,
    unit: 'reports',
    command: [...CHAOS, '--only', 'kill,wallets', '--clients', '2', '--payers', '60'],
  },
  {
    name: 'reconnects',
    title: 'Streams of running turns are cut and resumed',
    counted: 'reconnects',
    goal: 10_000,
    unit: 'reconnects',
    command: program('reconnects'),
    each: 10_000,
  },
  {
    name: 'interrupts',
    title: 'Turns are interrupted, half of them from another node',
    counted: 'interrupts',
    goal: 10_000,
    unit: 'interrupts',
    command: program('interrupts'),
    each: 10_000,
  },
  {
    name: 'fuzz',
    title: 'Fuzzed requests reach every route',
    counted: 'requests',
    goal: 1_000_000,
    unit: 'requests',
    command: program('fuzz'),
    each: 250_000,
  },
  {
    name: 'providers',
    title: 'A model provider sends what none should',
    counted: 'bad responses',
    goal: 100_000,
    unit: 'bad responses',
    command: program('providers'),
    each: 50_000,
  },
  {
    name: 'soak',
    title: 'A steady load with 1,000 idle streams',
    counted: 'seconds',
    goal: 4 * 3_600,
    unit: 'seconds',
    // At full speed a run of hours would have the machine to itself.
    command: ['npm', 'run', '--silent', 'soak', '--', '--no-build', '--pause', '250'],
  },
];
