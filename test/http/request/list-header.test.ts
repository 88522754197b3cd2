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
});
