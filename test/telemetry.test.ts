import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Place } from './cli/running.js';
import { startCollector, type Collector } from './support/otlp.js';
import { parseScrape } from './support/prometheus.js';

// Each test starts processes.
jest.setTimeout(60_000);

let place: Place;
let collector: Collector;
beforeEach(async () => {
  place = new Place();
  collector = await startCollector();
});
afterEach(async () => {
  await place.clear();
  await collector.close();
});

/** Asks for a sum, which the demo rig has a tool for. */
async function calculate(url: string, session = randomUUID()): Promise<void> {
  const answer = await fetch(`${url}/api/chat?message=What%20is%202*3%3F`, {
    method: 'POST',
    headers: { 'X-Session-Id': session, Prefer: 'wait=30' },
  });
  expect(await answer.text()).toContain('2*3 = 6');
}

describe('the service with OpenTelemetry’s variables', () => {
  it('sends its last spans before it ends', async () => {
    const { running, url } = await place.serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'assistant',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test,service.namespace=desk',
      // Only the end sends them.
      OTEL_BSP_SCHEDULE_DELAY: '3600000',
    });
    const session = randomUUID();
    await calculate(url, session);
    expect(collector.spans).toEqual([]);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    const names = collector.spans.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['POST /api/chat', 'invoke_agent default', 'chat demo', 'execute_tool calculate'],
      ]),
    );
    expect(collector.spans[0]?.resource).toMatchObject({
      'service.name': 'assistant',
      'service.namespace': 'desk',
      'deployment.environment.name': 'a test',
    });
    expect(collector.bytes()).not.toContain(session);
  });

  it('works without the collector, logs that once, and shuts down normally', async () => {
    const { running, url } = await place.serve({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces',
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    });
    await calculate(url);
    await running.says('trace export failed');
    await calculate(url);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.out().split('trace export failed')).toHaveLength(2);
  });

  it.each([
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
    ['OTEL_TRACES_SAMPLER', 'always_off'],
  ])('traces nothing with %s=%s', async (name, value) => {
    const { running, url } = await place.serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, [name]: value });
    await calculate(url);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(collector.bytes()).toBe('');
  });
});

describe('the service and its metrics', () => {
  it('shows them to requests with METRICS_TOKEN', async () => {
    const token = 'sesame-of-the-operator';
    const { url } = await place.serve({ METRICS_TOKEN: token });
    await calculate(url);
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
    const { value } = parseScrape(await answer.text());
    expect(value('diptych_tool_calls_total', { tool: 'calculate', outcome: 'complete' })).toBe(1);
    expect(value('diptych_tokens_total', { rig: 'demo', direction: 'output' })).toBeGreaterThan(0);
    expect(value('diptych_bus_up')).toBeUndefined();
  });

  it('has none with METRICS=off', async () => {
    const { url } = await place.serve({ METRICS: 'off' });
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
  });
});
