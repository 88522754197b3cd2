import { Simulation, type Outcome, type Plan } from './simulation.js';
import type { Rule } from './simulated-tab.js';

const RUNS = 30;
/** `PROPERTY_SEED`: the first seed, or `random`. A failed simulation is the first one when its seed is given. */
const given = process.env.PROPERTY_SEED ?? '1';
/** The first seed. */
export const FIRST = given === 'random' ? Math.floor(Math.random() * 1e9) : Number(given);

export const NETWORKS = [
  { isFaulty: false, network: 'a slow network' },
  { isFaulty: true, network: 'a network that loses responses and cuts streams, while turns are interrupted' },
];

/** Runs simulations with different seeds. */
export async function simulate(plan: Plan): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) outcomes.push(await new Simulation(seed, plan).run());
  return outcomes;
}

/** @throws Error with the seed of the first simulation that broke the rule, and what happened until it did */
export function expectKept(rule: Rule, outcomes: readonly Outcome[]): void {
  const failed = outcomes.filter(({ problems }) => problems[rule].length > 0);
  const [first] = failed;
  if (first === undefined) return;
  const { seed, trace } = first;
  const problems = first.problems[rule];
  const count = `${String(failed.length)} of ${String(outcomes.length)} simulations failed.`;
  const repeat = `Seed ${String(seed)} (repeat with PROPERTY_SEED=${String(seed)}):`;
  const until = trace.slice(0, trace.indexOf(`PROBLEM ${problems[0] ?? ''}`) + 1);
  throw new Error([count, repeat, ...problems, '', 'What happened until then:', ...until].join('\n'));
}
