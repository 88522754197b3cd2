import { beforeEach, describe, expect, it } from '@jest/globals';
import { OutageLog } from '../../../src/core/operations/outage-log.js';
import { StoreUnavailableError } from '../../../src/core/ports/store.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('OutageLog', () => {
  let clock: FakeClock;
  let lines: [level: string, fields: Readonly<Record<string, unknown>>, message: string][];
  let log: OutageLog;
  const err = new StoreUnavailableError('connect ECONNREFUSED');

  beforeEach(() => {
    clock = new FakeClock();
    lines = [];
    const keep = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      lines.push([level, fields, message]);
    };
    log = new OutageLog({ info: keep('info'), warn: keep('warn'), error: keep('error') }, clock);
  });

  /** Lets something fail every second. */
  async function failFor(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      log.warn({ err, turns: 2 }, 'failed to renew leases');
      await clock.advance(1_000);
    }
  }

  it('logs the beginning of an outage with its cause, and its end with counts', async () => {
    log.warn({ err, route: '/api/chat' }, 'refused a request');
    await failFor(60);
    expect(lines).toEqual([
      ['error', { err, route: '/api/chat', line: 'refused a request' }, 'store unavailable'],
    ]);
    await clock.advance(10_000);
    expect(lines.slice(1)).toEqual([
      ['warn', { seconds: 59, suppressed: { 'failed to renew leases': 60 } }, 'store failures have stopped'],
    ]);
    await clock.advance(600_000);
    expect(lines).toHaveLength(2);
  });

  it('logs what it has suppressed when it is closed', async () => {
    await failFor(3);
    log.close();
    expect(lines.slice(1)).toEqual([
      ['warn', { seconds: 2, suppressed: { 'failed to renew leases': 2 } }, 'store still unavailable'],
    ]);
    await clock.advance(600_000);
    expect(lines).toHaveLength(2);
  });

  it('logs a reminder every five minutes', async () => {
    await failFor(601);
    expect(lines.map(([, { seconds }, message]) => [message, seconds])).toEqual([
      ['store unavailable', undefined],
      ['store still unavailable', 299],
      ['store still unavailable', 599],
    ]);
  });

  it('logs each cause of an outage once, and at most ten', () => {
    for (let round = 0; round < 3; round++) {
      for (let cause = 0; cause < 12; cause++)
        log.error({ err: new StoreUnavailableError(`cause ${String(cause)}`) }, 'store health check failed');
    }
    expect(lines).toHaveLength(10);
  });

  it('logs the next outage again', async () => {
    await failFor(1);
    await clock.advance(10_000);
    await failFor(1);
    expect(lines.map(([, , message]) => message)).toEqual([
      'store unavailable',
      'store failures have stopped',
      'store unavailable',
    ]);
  });

  it('passes on lines that do not concern the store', () => {
    log.info({ err }, 'request');
    log.warn({ err: new Error('other') }, 'failed to renew leases');
    log.error({}, 'crashed');
    expect(lines.map(([level, , message]) => [level, message])).toEqual([
      ['info', 'request'],
      ['warn', 'failed to renew leases'],
      ['error', 'crashed'],
    ]);
  });
});
