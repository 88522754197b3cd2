import type { ReactNode } from 'react';
import { Chart } from './chart.js';
import type { Point } from './wire.js';
import { compact, count, duration, timeOfDay } from './words.js';

const label = (point: Point): string => timeOfDay(point.at);

/** Charts of turns, latencies and tokens over a time span. */
export function Charts({ points }: { readonly points: readonly Point[] }): ReactNode {
  const sum = (pick: (point: Point) => number): number =>
    points.reduce((total, point) => total + pick(point), 0);
  const failed = sum((point) => point.failed);
  const turns = sum((point) => point.complete + point.interrupted) + failed;
  const slowest = Math.max(0, ...points.map((point) => point.first_text_ms?.p95 ?? 0));
  const [input, output] = [sum((point) => point.input_tokens), sum((point) => point.output_tokens)];
  return (
    <div className="charts">
      <Chart
        title="Turns"
        summary={`${count(turns)} ended, ${count(failed)} of them failed`}
        kind="bars"
        rows={points}
        label={label}
        format={compact}
        series={[
          { name: 'complete', color: 'var(--accent)', value: (point) => point.complete },
          { name: 'interrupted', color: 'var(--warn)', value: (point) => point.interrupted },
          { name: 'failed', color: 'var(--bad)', value: (point) => point.failed },
        ]}
      />
      <Chart
        title="Time to first text"
        summary={slowest === 0 ? 'no text yet' : `95 of 100 within ${duration(slowest)} at the worst moment`}
        kind="lines"
        rows={points}
        label={label}
        format={duration}
        series={[
          { name: 'median', color: 'var(--accent)', value: (point) => point.first_text_ms?.p50 ?? null },
          {
            name: '95th percentile',
            color: 'var(--warn)',
            value: (point) => point.first_text_ms?.p95 ?? null,
          },
        ]}
      />
      <Chart
        title="Length of turns"
        summary="from the beginning of the work to its end"
        kind="lines"
        rows={points}
        label={label}
        format={duration}
        series={[
          { name: 'median', color: 'var(--accent)', value: (point) => point.duration_ms?.p50 ?? null },
          { name: '95th percentile', color: 'var(--warn)', value: (point) => point.duration_ms?.p95 ?? null },
        ]}
      />
      <Chart
        title="Tokens"
        summary={`${compact(input)} in, ${compact(output)} out`}
        kind="areas"
        rows={points}
        label={label}
        format={compact}
        series={[
          { name: 'input', color: 'var(--line-strong)', value: (point) => point.input_tokens },
          { name: 'output', color: 'var(--accent)', value: (point) => point.output_tokens },
        ]}
      />
    </div>
  );
}
