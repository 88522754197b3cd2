import { describe, expect, it } from '@jest/globals';
import { DiptychChatTransport } from '../../src/client/ai-sdk/chat-transport.js';
import { createClient } from '../../src/client/index.js';

describe('The URL of the service', () => {
  it.each(['', '/path', '/@a/', 'http://host', 'HTTPS://host:1/@path/', 'http://[::1]:8080'])(
    'can be %j',
    (url) => {
      createClient({ url }).close();
      expect(new DiptychChatTransport({ url })).toBeInstanceOf(DiptychChatTransport);
    },
  );

  it.each([
    ...['127.0.0.1:8080', 'localhost:8080', 'ftp://host', 'http:', 'http://a:b@host', '/?a', '/#a'],
    ...['http://host:99999', 'http://a b/', 'https://[::1/'],
  ])('cannot be %j', (url) => {
    expect(() => createClient({ url })).toThrow(/^url must/);
    expect(() => new DiptychChatTransport({ url })).toThrow(/^url must/);
  });
});
