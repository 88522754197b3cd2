import { expect, it } from '@jest/globals';
import { createPackaged } from '../../src/adapters/models/ai-sdk/packaged.js';
import { CallMemory } from '../../src/adapters/models/call-memory.js';

it('estimates the signature of a call once, however many requests repeat it', () => {
  const memory = new CallMemory();
  const endpoint = { provider: 'google', model: 'm', baseUrl: 'http://127.0.0.1:9', apiKey: 'k' } as const;
  const callsOf = (sessionId: string | undefined) => memory.ofSession('r', sessionId);
  const { attachedTokens } = createPackaged('google', { ...endpoint, options: {}, fetch }, callsOf);
  let reads = 0;
  const google = {
    get thoughtSignature() {
      reads++;
      return 'signature '.repeat(100);
    },
  };
  callsOf('s').remember('c', { metadata: { google } });
  reads = 0;
  const estimates = [1, 2, 3].map(() => attachedTokens('s', 'c', false));
  expect(new Set(estimates).size).toBe(1);
  expect(estimates[0]).toBeGreaterThan(200);
  expect(reads).toBe(1);
  expect([attachedTokens('s', 'other', false), attachedTokens('t', 'c', false)]).toEqual([0, 0]);
});
