import { describe, expect, it } from '@jest/globals';
import { SettingsReader } from '../../src/config/settings.js';
import { tracesOf } from '../../src/config/traces.js';

function read(env: Readonly<Record<string, string>>) {
  const reader = new SettingsReader((name) => {
    const text = env[name];
    return text === undefined ? undefined : { text, where: name, quotable: true };
  });
  return { traces: tracesOf(reader), mistakes: reader.mistakes.map(({ where }) => where) };
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('OpenTelemetry’s variables', () => {
  it('name the collector, the service and the sampler', () => {
    expect(read(ENDPOINT)).toEqual({
      traces: {
        url: 'http://collector:4318/v1/traces',
        serviceName: 'diptych',
        resource: {},
        root: 'all',
        followsParent: true,
      },
      mistakes: [],
    });
    const all = {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other, a=1%2C2',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_EXPORTER: 'otlp,console',
    };
    expect(read(all).traces).toEqual({
      url: 'https://traces.example.com/in',
      serviceName: 'other',
      resource: { 'service.name': 'other', a: '1,2' },
      root: { ratio: 0.25 },
      followsParent: false,
    });
    expect(read({ ...all, OTEL_SERVICE_NAME: 'mine' }).traces?.serviceName).toBe('mine');
    expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/base/' }).traces?.url).toBe(
      'http://c/base/v1/traces',
    );
  });

  it.each([
    ['parentbased_always_off', 'none', true],
    ['always_on', 'all', false],
    ['always_off', 'none', false],
    ['parentbased_traceidratio', { ratio: 1 }, true],
  ])('%s samples %j', (OTEL_TRACES_SAMPLER, root, followsParent) => {
    expect(read({ ...ENDPOINT, OTEL_TRACES_SAMPLER }).traces).toMatchObject({ root, followsParent });
  });

  it.each([
    [{}],
    [{ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    [{ OTEL_TRACES_EXPORTER: 'jaeger' }],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote', OTEL_TRACES_SAMPLER_ARG: 'endpoint=http://jaeger:14250' }],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true', OTEL_RESOURCE_ATTRIBUTES: 'token=YQ==' }],
  ])('%j traces nothing', (env) => {
    expect(read(env)).toEqual({ traces: null, mistakes: [] });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/json'],
    ['OTEL_TRACES_EXPORTER', 'jaeger'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b=c'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%zz'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'alone'],
  ])('%s=%s is a mistake', (name, value) => {
    expect(read({ ...ENDPOINT, [name]: value }).mistakes).toEqual([name]);
  });

  it('are known as settings, whether traces are on or off', () => {
    const on = new SettingsReader((name) =>
      name in ENDPOINT
        ? { text: ENDPOINT[name as keyof typeof ENDPOINT], where: name, quotable: true }
        : undefined,
    );
    const off = new SettingsReader(() => undefined);
    tracesOf(on);
    tracesOf(off);
    expect(off.names).toEqual(on.names);
  });

  it('are not quoted where they may hold a password', () => {
    const where = 'OTEL_EXPORTER_OTLP_ENDPOINT';
    const reader = new SettingsReader((name) =>
      name === where ? { text: 'htp://me:hunter2@collector', where, quotable: true } : undefined,
    );
    tracesOf(reader);
    expect(reader.mistakes.map(({ what }) => what)).toEqual([expect.not.stringContaining('hunter2')]);
  });
});
