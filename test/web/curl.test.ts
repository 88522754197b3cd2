import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { Exchange } from '../../src/client/types.js';
import { curlLine } from '../../src/web/chat/inspector/curl.js';
import { patchBetween, readObject } from '../../src/web/chat/inspector/state-patch.js';

function exchange(some: Partial<Exchange>): Exchange {
  return {
    ...{ method: 'GET', url: '/current/api/state', headers: {}, body: undefined, status: 200 },
    ...{ startedAt: new Date(0), milliseconds: 1, retryAfterMs: null },
    ...some,
  };
}

describe('a curl line', () => {
  it('is what a shell turns into the same request, whatever was typed', () => {
    const body = JSON.stringify({ message: `It's "me" $(id) \`id\` \\ \n end` });
    const headers = { 'X-Session-Id': 'abc', 'If-None-Match': 'W/"1"' };
    const line = curlLine(exchange({ method: 'POST', headers, body }), 'http://127.0.0.1:8080/');
    const words = execFileSync('sh', ['-c', line.replace(/^curl/, String.raw`printf '%s\0'`)], {
      encoding: 'utf8',
    });
    expect(words.split('\0').slice(0, -1)).toEqual([
      ...['-s', '-H', 'X-Session-Id: abc', '-H', 'If-None-Match: W/"1"'],
      ...['-d', body, 'http://127.0.0.1:8080/current/api/state'],
    ]);
  });

  it.each(['SERVICE-APP-KEY', 'x-api-key'])(
    'never shows the key in %s, and lets the shell fill it in',
    (name) => {
      const line = curlLine(exchange({ headers: { [name]: 'sk-app-secret' } }), 'http://h/');
      expect(line).toContain(`-H "${name}: $APP_KEY"`);
      expect(line).not.toContain('secret');
    },
  );

  it('never shows the client id and the values of secrets, and lets the shell fill them in', () => {
    const url = '/current/api/secrets';
    const body = JSON.stringify({ client_id: 'c-1', app: 'a', secrets: { API_KEY: "it's secret" } });
    const line = curlLine(exchange({ method: 'POST', url, body }), 'http://h/');
    expect(line).not.toMatch(/c-1|secret"/);
    const env = { CLIENT_ID: 'c-1', API_KEY: 'a value' };
    const words = execFileSync('sh', ['-c', line.replace(/^curl/, String.raw`printf '%s\0'`)], {
      ...{ encoding: 'utf8' as const, env },
    });
    const sent: unknown = JSON.parse(words.split('\0')[2] ?? '');
    expect(sent).toEqual({ client_id: 'c-1', app: 'a', secrets: { API_KEY: 'a value' } });
    const asked = curlLine(exchange({ url: '/current/api/state?client_id=c-1&tail=2' }), 'http://h/');
    expect(asked).toBe(`curl -s 'http://h/current/api/state?client_id='"$CLIENT_ID"'&tail=2'`);
  });

  it('names the method where curl would take another, and lets streams flow', () => {
    const origin = 'http://h/';
    expect(curlLine(exchange({}), origin)).toBe("curl -s 'http://h/current/api/state'");
    expect(curlLine(exchange({ method: 'POST' }), origin)).toContain('-X POST');
    expect(curlLine(exchange({ method: 'PATCH', body: '{}' }), origin)).toContain('-X PATCH');
    expect(curlLine(exchange({ headers: { Accept: 'text/event-stream' } }), origin)).toMatch(/^curl -sN /);
  });
});

describe('the change of a user state', () => {
  it.each([
    [{}, { a: 1 }, { a: 1 }],
    [{ a: 1, b: 2 }, { a: 1 }, { b: null }],
    [
      { evm: { address: '0x1', chain_id: 1 } },
      { evm: { address: '0x1', chain_id: 5 } },
      { evm: { chain_id: 5 } },
    ],
    [{ evm: { a: 1 } }, { evm: { a: 1 } }, {}],
    [{ list: [1, 2] }, { list: [1] }, { list: [1] }],
    [{ evm: { a: 1 } }, { evm: 3 }, { evm: 3 }],
  ])('from %j to %j is the patch %j', (before, after, patch) => {
    expect(patchBetween(before, after)).toEqual(patch);
  });

  it.each(['', '{', '[]', 'null', '"text"'])('is not read from %j', (text) => {
    expect(() => readObject(text)).toThrow('a JSON object');
  });
});
