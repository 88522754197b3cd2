import { describe, expect, it } from '@jest/globals';
import { createLog } from '../../../src/adapters/telemetry/pino/log.js';
import { RigError } from '../../../src/core/ports/rig.js';
import type { Log } from '../../../src/core/ports/log.js';
import { StoreUnavailableError } from '../../../src/core/ports/store.js';

function logged(write: (log: Log) => void, level = 'info'): string {
  const lines: string[] = [];
  write(createLog({ level, destination: { write: (line: string) => lines.push(line) } }));
  return lines.join('');
}

describe('createLog', () => {
  it('writes one JSON line with level, time, fields and message', () => {
    const line: unknown = JSON.parse(
      logged((log) => {
        log.info({ url: 'http://x', port: 1 }, 'listening');
      }),
    );
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      url: 'http://x',
      port: 1,
      msg: 'listening',
    });
  });

  it('keeps to its level', () => {
    const text = logged((log) => {
      log.info({}, 'one');
      log.warn({}, 'two');
    }, 'warn');
    expect(text).not.toContain('one');
    expect(text).toContain('two');
  });

  it('masks private fields, at any depth and in any spelling, and shortens session ids', () => {
    const secret = 'do-not-log-me';
    const text = logged((log) => {
      const headers = {
        'service-app-key': secret,
        'X-API-Key': secret,
        Authorization: secret,
        cookie: [secret],
      };
      log.warn(
        {
          headers,
          a: { b: [{ client_id: secret, apiKey: secret, user_state: { evm: secret } }] },
          text: secret,
        },
        'x',
      );
      log.info({ sessionId: '12345678-do-not-log-me', 'x-session-id': '12345678-do-not-log-me' }, 'x');
    });
    expect(text).not.toContain(secret);
    expect(text).toContain('"sessionId":"12345678"');
    expect(text).toContain('"x-session-id":"12345678"');
  });

  it('shows errors by name, code, frames and causes, without words that may quote somebody', () => {
    const secret = 'my seed phrase';
    const cause = Object.assign(new TypeError(`upstream said ${secret}`), {
      statusCode: 400,
      requestBody: secret,
    });
    const error = new Error(`not JSON:\n    at ${secret} x\n ${secret}`, { cause });
    const text = logged((log) => {
      log.error({ err: error }, 'request failed');
    });
    expect(text).not.toContain(secret);
    const line: unknown = JSON.parse(text);
    expect(line).toMatchObject({
      err: {
        type: 'Error',
        stack: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
        cause: { type: 'TypeError', statusCode: 400, stack: expect.any(Array) },
      },
    });
  });

  it("keeps the words of the service's own and the system's errors", () => {
    const own = new RigError('The model is overloaded', { retryable: true });
    const system = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    const text = logged((log) => {
      log.error({ err: own, other: system }, 'x');
    });
    expect(JSON.parse(text)).toMatchObject({ err: { type: 'RigError' }, other: { type: 'Error' } });
    expect(text).toContain('The model is overloaded');
    expect(text).toContain('connect ECONNREFUSED 127.0.0.1:1');
    expect(text).toContain('"code":"ECONNREFUSED"');
  });

  it('describes an error whose message is shown once, with its code, frames and cause', () => {
    const cause = new StoreUnavailableError('the inner reason');
    const error = Object.assign(new StoreUnavailableError('the outer reason', { cause }), {
      code: 'SQLITE_FULL',
    });
    const text = logged((log) => {
      log.error({ err: error }, 'x');
    });
    const frames = expect.arrayContaining([expect.stringMatching(/^at .*log\.test\.ts/)]);
    expect(JSON.parse(text)).toEqual({
      level: 'error',
      time: expect.any(String),
      err: {
        type: 'StoreUnavailableError',
        message: 'the outer reason',
        code: 'SQLITE_FULL',
        stack: frames,
        cause: { type: 'StoreUnavailableError', message: 'the inner reason', stack: frames },
      },
      msg: 'x',
    });
    expect(text.match(/the outer reason/g)).toHaveLength(1);
  });

  it('leaves out an error that is absent', () => {
    const text = logged((log) => {
      log.warn({ err: null, turns: 1 }, 'x');
    });
    expect(JSON.parse(text)).toEqual({ level: 'warn', time: expect.any(String), turns: 1, msg: 'x' });
  });
});
