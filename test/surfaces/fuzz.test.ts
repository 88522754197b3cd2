import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyRequest, faultOf, sendAny } from '../support/any-request.js';
import { serveScripted } from '../support/http.js';

let server: Awaited<ReturnType<typeof serveScripted>>;
beforeAll(async () => (server = await serveScripted({ surfaces: ['current', 'legacy', 'field'] })));
afterAll(() => server.close());

describe('anything at all', () => {
  it('is answered with JSON or a stream, never with 500, and the service stays up', async () => {
    await fc.assert(
      fc.asyncProperty(anyRequest, async (asked) => {
        expect(faultOf(asked, await sendAny(server.url, asked))).toBeUndefined();
      }),
      { numRuns: 1500 },
    );
    const { status, json } = await server.ask('GET', '/api/health');
    expect([status, json]).toEqual([200, expect.objectContaining({ status: 'ok' })]);
    expect(server.log.lines.filter((line) => line.startsWith('request failed'))).toEqual([]);
  }, 60_000);
});
