import { beforeAll, describe, expect, it } from '@jest/globals';
import { Simulation, type Outcome } from './simulation.js';
import type { Rule } from './tab.js';

const RUNS = 30;
/** `PROPERTY_SEED`: the first seed, or `random`. A failed simulation is the first one when its seed is given. */
const given = process.env.PROPERTY_SEED ?? '1';
const FIRST = given === 'random' ? Math.floor(Math.random() * 1e9) : Number(given);

const NETWORKS = [
  { isFaulty: false, network: 'a slow network' },
  { isFaulty: true, network: 'a network that loses responses and cuts streams, while turns are interrupted' },
];

describe.each(['current', 'legacy'] as const)('watch, over the %s surface', (surface) => {
  describe.each(NETWORKS)('on $network', ({ isFaulty }) => {
    const outcomes: Outcome[] = [];
    beforeAll(async () => {
      for (let seed = FIRST; seed < FIRST + RUNS; seed++)
        outcomes.push(await new Simulation(seed, { surface, isFaulty }).run());
    });

    it('shows at any time the beginning of what the assistant has said: nothing twice, no gap', () => {
      expectKept('order', outcomes);
    });

    it('shows all that the assistant has said once everything was delivered', () => {
      expectKept('completeness', outcomes);
    });

    it('ends each turn that it has started, once, and yields text of the started turn only', () => {
      expectKept('turns', outcomes);
    });

    it('does not end, fail or wait forever, and sends each message once', () => {
      expectKept('progress', outcomes);
    });

    it('leaves no timer, request or stream behind when the client is closed', () => {
      expectKept('closing', outcomes);
    });

    it('does the same in two simulations with the same seed', async () => {
      expect(await new Simulation(FIRST, { surface, isFaulty }).run()).toEqual(outcomes[0]);
    });
  });
});

/** @throws Error with the seed of the first simulation that broke the rule, and what happened until it did */
function expectKept(rule: Rule, outcomes: readonly Outcome[]): void {
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
