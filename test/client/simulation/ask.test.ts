import { beforeAll, describe, it } from '@jest/globals';
import { expectKept, NETWORKS, simulate } from './outcomes.js';
import type { Outcome } from './simulation.js';

describe.each([
  { areRepliesEqual: false, replies: 'different replies' },
  { areRepliesEqual: true, replies: 'replies with the same text' },
])('ask, with $replies', ({ areRepliesEqual }) => {
  describe.each(NETWORKS)('on $network', ({ isFaulty }) => {
    let outcomes: readonly Outcome[] = [];
    beforeAll(async () => {
      outcomes = await simulate({ surface: 'current', isFaulty, areRepliesEqual, areAsking: true });
    });

    it('shows at any time the beginning of its own reply', () => {
      expectKept('order', outcomes);
    });

    it('shows all of its reply once everything was delivered, and before its end', () => {
      expectKept('completeness', outcomes);
    });

    it('yields its own turn only, and ends as the turn has ended, not earlier', () => {
      expectKept('turns', outcomes);
    });

    it('does not fail or wait forever, and sends each message once', () => {
      expectKept('progress', outcomes);
    });

    it('leaves no timer, request or stream behind when the client is closed', () => {
      expectKept('closing', outcomes);
    });
  });
});
