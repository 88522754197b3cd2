import { describe, expect, it } from '@jest/globals';
import { accepts } from '../../../src/http/request/accept.js';
import { preferredWait } from '../../../src/http/request/prefer.js';
import { matchesTag } from '../../../src/http/response/etag.js';

/** Makes a list longer than 8 KiB, by blanks that mean nothing. */
const long = (list: string): string => list + ' '.repeat(8193 - list.length);
/** Makes a list of the greatest length that is read. */
const longest = (list: string): string => list + ' '.repeat(8192 - list.length);

describe('a header that is a list', () => {
  it('counts as absent when it is longer than 8 KiB', () => {
    expect(accepts(longest('text/html'), 'text/event-stream')).toBe(false);
    expect(accepts(long('text/html'), 'text/event-stream')).toBe(true);
    expect(preferredWait(longest('wait=5'), 60)).toBe(5);
    expect(preferredWait(long('wait=5'), 60)).toBeUndefined();
    expect(matchesTag(longest('"a", "b"'), '"b"')).toBe(true);
    expect(matchesTag(long('"a", "b"'), '"b"')).toBe(false);
    expect(matchesTag(long('*'), '"b"')).toBe(false);
  });

  it.each([
    ['foo="a,wait=9", wait=1', 1],
    ['foo="a\\", wait=9", wait=1', 1],
    ['foo="a", wait=9, wait=1', 9],
    ['foo="a, wait=9', undefined],
    ['foo="a\\', undefined],
    [',,wait="2"; x="1;2",', 2],
  ])('is not divided within quotes: Prefer: %s', (header, seconds) => {
    expect(preferredWait(header, 60)).toBe(seconds);
  });

  it.each([
    ['text/html; x="a, text/event-stream"', false],
    ['text/event-stream; x="a; q=0"', true],
    ['text/event-stream; x="a\\"; q=0"', true],
    ['text/event-stream; x="a"; q=0', false],
  ])('is not divided within quotes: Accept: %s', (header, isAllowed) => {
    expect(accepts(header, 'text/event-stream')).toBe(isAllowed);
  });
});
