import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pathOf } from '../../../src/http/request/target.js';

describe('the path of a request target', () => {
  it.each([
    ['/api/state', '/api/state'],
    ['/api/state?a=/b#c', '/api/state'],
    ['/a#b?c', '/a'],
    ['//host/a', '//host/a'],
    ['http://host/a?b', '/a'],
    ['HTTPS://u:p@host:1/a/b', '/a/b'],
    ['http://host', '/'],
    ['http://host?a=/b', '/'],
    ['http://%zz@host/a', '/a'],
    ['http://a[b/c', '/c'],
    ['a://b', '/'],
    ['*', '*'],
    ['', '/'],
  ])('of %j is %j', (target, path) => {
    expect(pathOf(target)).toBe(path);
  });

  it('is that of the URL where the target is one', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (target) => {
        fc.pre(!/\/\.|%2e/i.test(target));
        expect(pathOf(target)).toBe(/^[^/]+\/\/[^/?#]+([^?#]*)/.exec(target)?.[1]?.replace(/^$/, '/'));
      }),
    );
  });

  it('is found in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (target) => {
        expect(pathOf(target)).not.toMatch(/^$|[?#]/);
      }),
    );
  });
});
