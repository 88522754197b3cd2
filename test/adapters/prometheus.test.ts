import { describe, expect, it } from '@jest/globals';
import { createMemoryStore } from '../support/memory-store/store.js';
import { Counter, Histogram } from '../../src/adapters/telemetry/prometheus/instruments.js';
import { createMetrics } from '../../src/adapters/telemetry/prometheus/metrics.js';
import { metricsText } from '../../src/adapters/telemetry/prometheus/text.js';
import { systemClock } from '../../src/adapters/platform/uuid/clock.js';
import { StoreUnavailableError, type Store } from '../../src/core/ports/store.js';
import { message, testCore } from '../support/core.js';
import { parseScrape } from '../support/prometheus.js';
import { ScriptedRig } from '../support/scripted-rig.js';

const NAMES = { apps: ['default', 'desk'], rigs: ['scripted'], tools: ['get_time'] };
const measure = (store: Store, busUp: (() => boolean) | null = null) =>
  createMetrics({ store, names: NAMES, clock: systemClock, version: '1', busUp });

describe('instruments', () => {
  it('write labels of any text so that they are read as they were', () => {
    const counter = new Counter('a_total', 'Says "this",\nand \\ that.', ['x', 'y']);
    const odd = 'a "b"\\n\n\\';
    counter.add(2, odd, 'é');
    counter.add(0.5, odd, 'é');
    const { samples } = parseScrape(metricsText([counter.read()]));
    expect(samples).toEqual([{ name: 'a_total', labels: { x: odd, y: 'é' }, value: 2.5 }]);
  });

  it('put a value into the first bucket that takes it, and those above all bounds into the count alone', () => {
    const histogram = new Histogram('b_seconds', 'Times.', [0.1, 1], []);
    for (const value of [0.05, 0.1, 0.5, 3]) histogram.observe(value);
    const { value } = parseScrape(metricsText([histogram.read()]));
    expect(value('b_seconds_bucket', { le: '0.1' })).toBe(2);
    expect(value('b_seconds_bucket', { le: '1' })).toBe(3);
    expect(value('b_seconds_bucket', { le: '+Inf' })).toBe(4);
    expect(value('b_seconds_sum')).toBeCloseTo(3.65);
  });

  it('keep a bounded number of series, and lose no count', () => {
    const counter = new Counter('c_total', 'Anything.', ['x']);
    for (let round = 0; round < 2; round++) for (let n = 0; n < 3_000; n++) counter.add(1, String(n));
    const { series } = counter.read();
    expect(series).toHaveLength(1_001);
    expect(series.find(({ labels }) => labels.x === 'other')?.value).toBe(4_000);
    expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(6_000);
  });
});

describe('metrics', () => {
  it('say that the store is away, and still answer', async () => {
    const store = createMemoryStore();
    const metrics = measure(store);
    expect(parseScrape(await metrics.text()).value('diptych_store_up')).toBe(1);
    await store.close();
    await expect(metrics.store.check()).rejects.toThrow(StoreUnavailableError);
    const { value } = parseScrape(await metrics.text());
    expect(value('diptych_store_up')).toBe(0);
    expect(value('diptych_store_errors_total', { operation: 'check' })).toBe(1);
    // The last count would look like turns that no node works on.
    expect(value('diptych_store_turns', { status: 'running' })).toBeNaN();
    expect(value('diptych_store_turns', { status: 'queued' })).toBeNaN();
  });

  it('report the store as away, with its counts, while it can be read but not written', async () => {
    const store = createMemoryStore();
    const readOnly = { ...store, check: () => Promise.reject(new StoreUnavailableError('read-only')) };
    const { value } = parseScrape(await measure(readOnly).text());
    expect(value('diptych_store_up')).toBe(0);
    expect(value('diptych_store_turns', { status: 'queued' })).toBe(0);
  });

  it('count failures to remove old data, but not how long it takes', async () => {
    const store = createMemoryStore();
    const metrics = measure(store);
    await metrics.store.pruneSecrets(0, 1);
    await store.close();
    await expect(metrics.store.pruneSecrets(0, 1)).rejects.toThrow(StoreUnavailableError);
    await expect(metrics.store.expireWalletRequests(0, 1)).rejects.toThrow(StoreUnavailableError);
    const { value, samples } = parseScrape(await metrics.text());
    expect(value('diptych_store_errors_total', { operation: 'prune_secrets' })).toBe(1);
    expect(value('diptych_store_errors_total', { operation: 'expire_wallet_requests' })).toBe(1);
    expect(value('diptych_store_errors_total', { operation: 'prune' })).toBe(0);
    const measured = samples.filter(({ name }) => name === 'diptych_store_operation_duration_seconds_count');
    expect(measured.map(({ labels }) => labels.operation)).not.toContain('prune_secrets');
  });

  it('report 0 from the start for all labels that are known', async () => {
    const { samples } = parseScrape(await measure(createMemoryStore()).text());
    const counts = new Map<string, number>();
    for (const { name, value } of samples) {
      if (!/^diptych_.*(_total|_count)$/.test(name)) continue;
      expect([name, value]).toEqual([name, 0]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({
      diptych_messages_accepted_total: 2,
      diptych_turns_total: 2 * 2 * 3,
      diptych_turns_left_total: 3,
      diptych_turns_taken_over_total: 1,
      diptych_turn_duration_seconds_count: 2 * 3,
      diptych_turn_wait_seconds_count: 1,
      diptych_time_to_first_token_seconds_count: 1,
      diptych_rig_requests_total: 2 * 4,
      diptych_rig_request_duration_seconds_count: 2,
      diptych_rig_first_token_seconds_count: 1,
      diptych_tokens_total: 2,
      diptych_tool_calls_total: 2 * 5,
      diptych_tool_call_duration_seconds_count: 2,
      diptych_store_operation_duration_seconds_count: 9,
      diptych_store_errors_total: 12,
    });
  });

  it('leave room for the series that occur where the configuration allows very many', async () => {
    const apps = Array.from({ length: 200 }, (_, n) => `app-${String(n)}`);
    const metrics = createMetrics({
      ...{ store: createMemoryStore(), clock: systemClock, version: '1', busUp: null },
      names: { ...NAMES, apps },
    });
    const series = (await metrics.read()).map(({ name, series: all }) => [name, all.length] as const);
    expect(Object.fromEntries(series)).toMatchObject({
      diptych_messages_accepted_total: 200,
      diptych_turns_total: 0,
    });
  });

  it('say whether Redis is there', async () => {
    let isUp = true;
    const metrics = measure(createMemoryStore(), () => isUp);
    const busUp = async () => parseScrape(await metrics.text()).value('diptych_bus_up', { bus: 'redis' });
    expect(await busUp()).toBe(1);
    isUp = false;
    expect(await busUp()).toBe(0);
  });

  it('count a turn whose session another process has deleted as deleted, not as lost', async () => {
    const store = createMemoryStore();
    const metrics = measure(store);
    const rig = new ScriptedRig();
    const { core } = testCore({ rigs: [rig], store: metrics.store, observer: metrics.observer });
    const id = 'a0000000-0000-4000-8000-000000000002';
    await core.send(message(id, 'Hello'));
    const asked = await rig.next();
    await store.deleteSession(id, Date.now());
    // No signal says so: the store refuses to store the step.
    asked.call('one', 'get_time').end();
    await core.drain(10_000);
    const { value } = parseScrape(await metrics.text());
    expect(value('diptych_turns_left_total', { reason: 'deleted' })).toBe(1);
    expect(value('diptych_turns_left_total', { reason: 'lost' })).toBe(0);
  });

  it('distinguish turns that are handed over from those that ended', async () => {
    const store = createMemoryStore();
    const metrics = measure(store);
    const rig = new ScriptedRig();
    const first = testCore({ rigs: [rig], store: metrics.store, observer: metrics.observer });
    const sent = await first.core.send(message('a0000000-0000-4000-8000-000000000001', 'Hello'));
    await rig.next();
    await first.core.drain(0);
    const left = parseScrape(await metrics.text());
    expect(left.value('diptych_turns_left_total', { reason: 'handover' })).toBe(1);
    expect(left.value('diptych_turns_running')).toBe(0);
    expect(left.value('diptych_turns_total', { outcome: 'complete', rig: 'scripted' })).toBe(0);

    const second = testCore({ rigs: [rig], store: metrics.store, observer: metrics.observer });
    await second.core.start();
    (await rig.next()).text('Hello.').end({ inputTokens: 3, outputTokens: 1 });
    await second.core.turnEnded(sent, new AbortController().signal);
    const { value } = parseScrape(await metrics.text());
    expect(value('diptych_turns_taken_over_total')).toBe(1);
    expect(value('diptych_turns_total', { outcome: 'complete', rig: 'scripted' })).toBe(1);
    // Of two attempts the first one waited.
    expect(value('diptych_turn_wait_seconds_count')).toBe(1);
    await second.core.close();
  });
});
