import { afterEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import {
  addHeaders,
  headersOf,
  ListedResponse,
  replaceHeader,
} from '../../../src/http/response/header-list.js';
import { answering, closeAnswering } from '../../support/answering.js';

const LIST = headersOf([
  (_req, res, next) => {
    res.setHeader('X-Guard', 'on');
    res.setHeader('X-Other', 'too');
    next();
  },
]);

afterEach(closeAnswering);

async function headersFrom(
  respond: (res: ServerResponse) => void,
  Class?: typeof ListedResponse,
): Promise<Headers> {
  const port = await answering((res) => {
    addHeaders(res, LIST);
    respond(res);
    res.end('ok');
  }, Class);
  return (await fetch(`http://127.0.0.1:${String(port)}`)).headers;
}

describe.each([
  ['ListedResponse', ListedResponse],
  ['a response of another class', undefined],
])('%s', (_name, Class) => {
  const got = (headers: Headers) => ['x-guard', 'x-other'].map((name) => headers.get(name));

  it('writes its list of headers', async () => {
    const headers = await headersFrom(() => undefined, Class);
    expect([...got(headers), headers.get('content-length')]).toEqual(['on', 'too', '2']);
  });

  it('writes headers that were set, too', async () => {
    const headers = await headersFrom((res) => {
      res.setHeader('X-Third', '3');
    }, Class);
    expect([...got(headers), headers.get('x-third')]).toEqual(['on', 'too', '3']);
  });

  it('shows, changes and removes headers of the list, and writes each once', async () => {
    const headers = await headersFrom((res) => {
      expect(res.getHeader('X-Guard')).toBe('on');
      expect(res.hasHeader('x-other')).toBe(true);
      expect(res.getHeaderNames()).toEqual(['x-guard', 'x-other']);
      res.setHeader('X-Guard', 'off');
      res.removeHeader('x-other');
    }, Class);
    expect(got(headers)).toEqual(['off', null]);
  });

  it('adds headers of the same name', async () => {
    const headers = await headersFrom((res) => {
      addHeaders(res, ['x-guard', 'again']);
    }, Class);
    expect(headers.get('x-guard')).toBe('on, again');
  });

  it('replaces a header', async () => {
    const headers = await headersFrom((res) => {
      replaceHeader(res, 'x-guard', 'off');
      replaceHeader(res, 'X-New', 'one');
      replaceHeader(res, 'X-New', 'two');
      res.writeHead(200);
    }, Class);
    expect([...got(headers), headers.get('x-new')]).toEqual(['off', 'too', 'two']);
  });

  it('takes headers with the head', async () => {
    const headers = await headersFrom((res) => {
      res.writeHead(200, 'Fine', { 'X-Guard': 'off' });
    }, Class);
    expect(got(headers)).toEqual(['off', 'too']);
  });

  it('refuses a header that would end its line', async () => {
    let message = '';
    await headersFrom((res) => {
      try {
        addHeaders(res, ['X-Split', 'a\r\nX-Injected: 1']);
        res.writeHead(200);
      } catch (error) {
        message = String(error);
        res.removeHeader('X-Split');
      }
    }, Class);
    expect(message).toContain('Invalid character in header content');
  });
});
