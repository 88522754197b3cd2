import { describe, expect, it } from '@jest/globals';
import { matchesTag } from '../../src/http/response/etag.js';
import { preferredWait } from '../../src/http/request/prefer.js';
import { decodeCursor, encodeCursor } from '../../src/surfaces/shared/page-cursor.js';

describe('Prefer: wait', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['wait=5', 5],
    ['Wait = 5', 5],
    ['wait="5"', 5],
    ['respond-async, wait=5', 5],
    ['wait=5; why="not"', 5],
    ['wait=7, wait=9', 7],
    ['wait=61', 60],
    ['wait=0', 0],
    ['wait', undefined],
    ['wait=', undefined],
    ['wait=five', undefined],
    ['wait=-5', undefined],
    ['wait=1.5', undefined],
    ['waiter=5', undefined],
  ])('%j is %j', (header, seconds) => {
    expect(preferredWait(header, 60)).toBe(seconds);
  });
});

describe('If-None-Match', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*', true],
    [' * ', true],
    ['W/"a-1"', true],
    ['"a-1"', true],
    ['"b", W/"a-1"', true],
    ['"b","c"', false],
    ['a-1', false],
    ['"a-1', false],
  ])('%j: %j', (header, matches) => {
    expect(matchesTag(header, 'W/"a-1"')).toBe(matches);
  });
});

describe('the cursor of a list', () => {
  it('comes back as it was', () => {
    const place = { activeAt: 1_700_000_000_000, id: '00000000-0000-4000-8000-00000000000a' };
    expect(decodeCursor(encodeCursor(place))).toEqual(place);
  });

  it.each(['', 'x', '!!!', Buffer.from('1').toString('base64url'), Buffer.from('a b').toString('base64url')])(
    'is refused when it is %j',
    (text) => {
      expect(decodeCursor(text)).toBeUndefined();
    },
  );
});
