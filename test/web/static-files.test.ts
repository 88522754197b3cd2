import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileRoutes, findFiles } from '../../src/http/pages/static-files.js';
import type { SurfaceName } from '../../src/surfaces/index.js';
import { fakeCore } from '../support/fake-core.js';
import { serveCore, type TestServer } from '../support/http.js';
import { collectLines } from '../support/lines.js';

let folder: string;
let running: TestServer | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diptych-test-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>A page</title>');
  writeFileSync(join(folder, 'assets', 'index-abc.js'), 'export {};');
  writeFileSync(join(folder, 'assets', '.hidden'), 'hidden');
});
afterEach(async () => {
  await running?.close();
  running = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function serve(pages: Record<string, string> = { '/': 'index.html' }, surfaces?: SurfaceName[]) {
  running = await serveCore(fakeCore({ health: () => Promise.resolve({ status: 'ok' }) }), {
    ...(surfaces !== undefined && { surfaces }),
    log: collectLines().log,
    pages: [(dialect) => fileRoutes(folder, findFiles(folder, pages), dialect)],
  });
  return running;
}

/** The status of a path as it is written, with dots in it too, and of a request with these headers alone. */
function statusOf(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

describe('the files of a page', () => {
  it('serves the page with no-cache and a policy that allows our own files alone', async () => {
    const server = await serve();
    const page = await server.ask('GET', '/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('A page');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const etag = page.headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    expect(await statusOf(server.url, '/', { 'If-None-Match': etag })).toBe(304);
    expect(await statusOf(server.url, '/', { 'If-Match': '"other"' })).toBe(412);
    expect((await server.ask('HEAD', '/')).status).toBe(200);
  });

  it('serves assets with a cache lifetime without end', async () => {
    const server = await serve();
    const asset = await server.ask('GET', '/assets/index-abc.js');
    expect(asset.status).toBe(200);
    expect(asset.headers.get('content-type')).toMatch(/^text\/javascript/);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('answers what there is not as any unknown path, and lets nothing else out', async () => {
    const server = await serve();
    for (const path of [
      '/assets/gone.js',
      '/assets/.hidden',
      '/assets/%2e%2e%2findex.html',
      '/index.html',
      '/assets',
    ]) {
      const answer = await server.ask('GET', path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.json).toMatchObject({ code: 'not_found' });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    for (const path of [
      '/assets/../index.html',
      '/../package.json',
      '/assets/..%2f..%2fpackage.json',
      '/assets/%00',
    ]) {
      expect([path, await statusOf(server.url, path)]).toEqual([path, 404]);
    }
    const posted = await server.ask('POST', '/');
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  it.each([
    ['http://localhost/', 200],
    ['http://%zz@a/', 200],
    ['http://a[b', 200],
    ['a://b/?x', 200],
    ['/#/../package.json', 200],
    ['http://%zz@a/assets/index-abc.js#x', 200],
    ['http://a:b/assets/index-abc.js?a=http://%zz@a/', 200],
    ['/assets/index-abc.js?%zz', 200],
    ['http://%zz@a/assets/gone.js', 404],
    ['http://%zz@a/assets', 404],
    ['http://a[b/assets/%2e%2e%2findex.html', 404],
    ['//assets/index-abc.js', 404],
  ])('answers the target %s with %d', async (target, status) => {
    const server = await serve();
    expect(await statusOf(server.url, target)).toBe(status);
  });

  it('sends a file as a whole, whatever range is requested', async () => {
    const server = await serve();
    for (const range of ['bytes=0-3', 'bytes=9999-']) {
      const headers = { Range: range };
      const asset = await server.ask('GET', '/assets/index-abc.js', { headers });
      expect([asset.status, asset.text]).toEqual([200, 'export {};']);
    }
  });

  it('has no path without a build, and loses its page with its file', async () => {
    const server = await serve({ '/': 'other.html' });
    expect((await server.ask('GET', '/')).status).toBe(404);
    expect((await server.ask('GET', '/assets/index-abc.js')).status).toBe(404);
    await server.close();
    const again = await serve();
    rmSync(join(folder, 'index.html'));
    const gone = await again.ask('GET', '/');
    expect(gone.status).toBe(404);
    expect(gone.json).toMatchObject({ code: 'not_found' });
    expect(gone.headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
  });

  it('changes nothing in the API beside it, and uses the dialect of the root', async () => {
    const server = await serve(undefined, ['legacy']);
    expect((await server.ask('GET', '/api/health')).json).toMatchObject({ status: 'ok' });
    expect((await server.ask('GET', '/nothing')).json).toEqual({ error: 'there is nothing at /nothing' });
    expect((await server.ask('GET', '/assets/gone.js')).json).toEqual({ error: 'there is no such file' });
  });
});
