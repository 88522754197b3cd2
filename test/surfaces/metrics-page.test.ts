import { describe, expect, it } from '@jest/globals';
import { isFromHere, isPublished } from '../../src/http/pages/metrics-page.js';

describe('who asks on this machine for themselves', () => {
  it.each([
    ['127.0.0.1', { host: '127.0.0.1:8080' }, true],
    ['::1', { host: '[::1]:8080' }, true],
    ['::ffff:127.0.0.1', { host: 'localhost:8080' }, true],
    ['127.8.9.1', { host: 'localhost' }, true],
    ['10.0.0.7', { host: 'localhost' }, false],
    ['::ffff:10.0.0.7', { host: '127.0.0.1' }, false],
    ['2001:db8::1', { host: '[::1]' }, false],
    ['', { host: 'localhost' }, false],
    ['127.0.0.1', { host: 'assistant.example.com' }, false],
    ['127.0.0.1', { host: '127.0.0.1.evil.example' }, false],
    ['127.0.0.1', { host: '10.0.0.7' }, false],
    ['127.0.0.1', { host: '%' }, false],
    ['127.0.0.1', {}, false],
    ['127.0.0.1', { host: 'localhost', via: '1.1 proxy' }, false],
    ['127.0.0.1', { host: 'localhost', forwarded: 'for=203.0.113.9' }, false],
    ['127.0.0.1', { host: 'localhost', 'x-real-ip': '203.0.113.9' }, false],
  ])('from %s with %j: %j', (address, headers, isHere) => {
    expect(isFromHere(address, headers)).toBe(isHere);
  });
});

describe('isPublished', () => {
  it.each([
    [null, false, false],
    [null, 0, false],
    [null, true, true],
    [null, 1, true],
    [null, ['loopback'], true],
    ['loopback', false, false],
    ['*', false, true],
    [['http://localhost:5173', 'https://127.0.0.1'], false, false],
    [['http://localhost:5173', 'https://chat.example.com'], false, true],
  ] as const)('with CORS_ORIGINS %j and TRUST_PROXY %j: %j', (corsOrigins, trustProxy, expected) => {
    expect(isPublished({ corsOrigins, trustProxy })).toBe(expected);
  });
});
