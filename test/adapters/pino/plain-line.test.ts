import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { createLog } from '../../../src/adapters/telemetry/pino/log.js';
import { createPlainLines, isoTime } from '../../../src/adapters/telemetry/pino/plain-line.js';

/** The line of these fields; with an object beside them, which has to take the general way. */
function lineOf(fields: Readonly<Record<string, unknown>>, isGeneral: boolean): string {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line: string) => lines.push(line) } });
  log.info(isGeneral ? { ...fields, zzz: {} } : fields, 'request');
  return lines.join('').replace(',"zzz":{}', '');
}

afterEach(() => {
  jest.useRealTimers();
});

describe('a line of plain fields', () => {
  it('has the bytes of the general way', () => {
    jest.useFakeTimers({ now: 1_700_000_000_007 });
    const names = [
      'method',
      'route',
      'status',
      'ms',
      'session',
      'sessionId',
      'x-session-id',
      'token',
      'text',
      'a"b',
      'é',
    ];
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constant('GET'),
      fc.constant('"\\\n\ud800é'),
    );
    const value = fc.oneof(
      text,
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(undefined),
      fc.constant(null),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (fields) => {
        expect(lineOf(fields, false)).toBe(lineOf(fields, true));
      }),
      { numRuns: 500 },
    );
  });

  it('is made at once for what requests log, and not for what needs a mask or an escape', () => {
    const plain = createPlainLines((name) => (name === 'token' ? 'redacted' : 'shown'));
    const request = { method: 'GET', route: '/api/sessions/:id', status: 200, ms: 0.4, aborted: true };
    expect(plain(request, 'request')).toBe(
      ',"method":"GET","route":"/api/sessions/:id","status":200,"ms":0.4,"aborted":true,"msg":"request"}\n',
    );
    for (const fields of [{ token: 'x' }, { a: 'ü' }, { a: '"' }, { a: {} }, { a: Infinity }])
      expect(plain(fields, 'request')).toBeUndefined();
    expect(plain({}, 'a "word"')).toBeUndefined();
  });

  it('has the time as dates have it', () => {
    for (const at of [
      0, 7, 999, 1_000, 1_700_000_000_000, 1_700_000_000_050, 1_700_000_000_050, 951_782_400_123,
    ])
      expect(isoTime(at)).toBe(new Date(at).toISOString());
  });
});
