import { listed, oneOf, text, webUrl, type Parse, type SettingsReader } from './settings.js';

const SAMPLERS = [
  ...['always_on', 'always_off', 'traceidratio'],
  ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
] as const;

/** The export, sampling and resource attributes of traces. */
export interface TraceSettings {
  /** An OTLP/HTTP endpoint. */
  readonly url: string;
  readonly serviceName: string;
  /** Further resource attributes of this service, such as `deployment.environment.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** The sampling of traces that start here. */
  readonly root: 'all' | 'none' | { readonly ratio: number };
  /** True: the sampling decision of an incoming request's `traceparent` applies. */
  readonly followsParent: boolean;
}

/** Reads OpenTelemetry's standard variables. Null without an endpoint, or when tracing is disabled. */
export function tracesOf(reader: SettingsReader): TraceSettings | null {
  // The URLs may contain a password.
  const secret = { secret: true };
  const isDisabled = reader.read('OTEL_SDK_DISABLED', false, disabled);
  const base = reader.read('OTEL_EXPORTER_OTLP_ENDPOINT', null, webUrl, secret);
  const own = reader.read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', null, webUrl, secret);
  const url = own ?? (base === null ? null : `${base.replace(/\/+$/, '')}/v1/traces`);
  const isOff = url === null || isDisabled;
  // Machines set these for all their programs: what has no effect here may have any value.
  const exports = reader.read('OTEL_TRACES_EXPORTER', true, isOff ? unused(true) : exporter);
  const isTraced = !isOff && exports;
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']) {
    reader.read(name, true, isTraced ? protocol : unused(true));
  }
  const serviceName = reader.read('OTEL_SERVICE_NAME', null, text);
  const resource = reader.read<TraceSettings['resource']>(
    'OTEL_RESOURCE_ATTRIBUTES',
    {},
    isTraced ? attributes : unused({}),
  );
  const usual = 'parentbased_always_on';
  const sampler = reader.read<(typeof SAMPLERS)[number]>(
    'OTEL_TRACES_SAMPLER',
    usual,
    isTraced ? oneOf(SAMPLERS) : unused(usual),
  );
  const ratio = reader.read('OTEL_TRACES_SAMPLER_ARG', 1, isTraced ? fraction : unused(1));
  if (!isTraced) return null;
  return {
    url,
    serviceName: serviceName ?? resource['service.name'] ?? 'diptych',
    resource,
    root: sampler.endsWith('always_on') ? 'all' : sampler.endsWith('always_off') ? 'none' : { ratio },
    followsParent: sampler.startsWith('parentbased'),
  };
}

/** The OpenTelemetry specification accepts only `true`, in any case. */
const disabled: Parse<boolean> = (value) => ({ value: value.toLowerCase() === 'true' });

const exporter: Parse<boolean> = (value) => {
  if (value === 'none') return { value: false };
  return listed(value).includes('otlp') ? { value: true } : { wrong: 'must be otlp or none' };
};

const protocol: Parse<boolean> = (value) =>
  value === 'http/protobuf' ? { value: true } : { wrong: 'must be http/protobuf' };

function unused<T>(value: T): Parse<T> {
  return () => ({ value });
}

const fraction: Parse<number> = (value) => {
  const number = /^\d*\.?\d+$/.test(value) ? Number(value) : NaN;
  return number >= 0 && number <= 1 ? { value: number } : { wrong: 'must be a number from 0 to 1' };
};

const attributes: Parse<TraceSettings['resource']> = (value) => {
  const pairs = listed(value).map((pair) => pair.split('='));
  const isFit = pairs.every(
    ([name, text, ...rest]) => name !== '' && text !== undefined && rest.length === 0,
  );
  if (!isFit) return { wrong: 'must be name=value, separated by commas' };
  try {
    const decoded = pairs.map((pair) => pair.map((part) => decodeURIComponent(part.trim())));
    return { value: Object.fromEntries(decoded.map(([name = '', text = '']) => [name, text])) };
  } catch {
    return { wrong: 'must be name=value, separated by commas, with each % as %25' };
  }
};
