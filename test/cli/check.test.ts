import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Place, UNREAD } from './running.js';

let place: Place;

beforeEach(() => {
  place = new Place();
});
afterEach(() => place.clear());

describe('check', () => {
  it.each([
    ['none', 0],
    ['perhaps', 1],
  ])('ends although a tool module keeps a timer running (side effects: %s)', async (sideEffects, code) => {
    mkdirSync(join(place.directory, 'tools'));
    writeFileSync(
      join(place.directory, 'tools', 'refreshing.mjs'),
      `setInterval(() => undefined, 1000);
export const tool = {
  ...{ name: 'rates', description: 'Lists rates.', parameters: { type: 'object' } },
  ...{ sideEffects: '${sideEffects}', run: () => 1 },
};`,
    );
    writeFileSync(join(place.directory, 'diptych.yaml'), 'tools: ./tools/*.mjs\n');
    const checked = await place.run(['check']);
    expect(checked).toMatchObject({ code, err: '' });
    expect(checked.out.includes('FAIL')).toBe(code !== 0);
    expect(await place.runAfter(UNREAD, ['check'])).toEqual({ code, out: '', err: '' });
  });
});
