import { expect, it } from '@jest/globals';
import { randomId } from '../../src/http/random-ids.js';

it('gives a new id each time, also where another lot of them begins', () => {
  const ids = Array.from({ length: 1000 }, randomId);
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
