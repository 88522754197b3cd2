import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectKept, FIRST, NETWORKS, simulate } from './outcomes.js';
import { Simulation, type Outcome } from './simulation.js';

describe.each(['current', 'legacy'] as const)('watch, over the %s surface', (surface) => {
  describe.each(NETWORKS)('on $network', ({ isFaulty }) => {
    let outcomes: readonly Outcome[] = [];
    beforeAll(async () => {
      outcomes = await simulate({ surface, isFaulty });
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

    it('shows all of it, and nothing twice, if replies have the same text', async () => {
      const equal = await simulate({ surface, isFaulty, areRepliesEqual: true });
      expectKept('order', equal);
      expectKept('completeness', equal);
    });
  });
});
