import type { HistogramSeries, Reading } from './instruments.js';

/** The content type of Prometheus' text format, version 0.0.4. */
export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Formats metrics for a scrape. Omits metrics without a series. */
export function metricsText(readings: readonly Reading[]): string {
  return readings
    .filter(({ series }) => series.length > 0)
    .map((reading) => {
      const { name, help, kind } = reading;
      const lines =
        reading.kind === 'histogram'
          ? reading.series.flatMap((series) => histogramLines(name, series))
          : reading.series.map(({ labels, value }) => line(name, labels, value));
      return `# HELP ${name} ${escape(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
    })
    .join('');
}

function histogramLines(name: string, { labels, value, sum, buckets }: HistogramSeries): string[] {
  return [
    ...buckets.map(({ le, count }) => line(`${name}_bucket`, { ...labels, le: String(le) }, count)),
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, value),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, value),
  ];
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${escape(text).replaceAll('"', '\\"')}"`,
  );
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${String(value)}\n`;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
