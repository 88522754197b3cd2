import type { ReactNode } from 'react';
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';

/** One series of a chart: a field of its rows. */
export interface Series<T> {
  readonly name: string;
  readonly color: string;
  readonly value: (row: T) => number | null;
}

interface ChartProps<T> {
  readonly title: string;
  /** A summary in words, also for screen readers. */
  readonly summary: string;
  readonly rows: readonly T[];
  readonly series: readonly Series<T>[];
  readonly label: (row: T) => string;
  readonly format: (value: number) => string;
  /** Bars and areas are stacked, lines are not. */
  readonly kind: 'bars' | 'areas' | 'lines';
}

const CHARTS = { bars: BarChart, areas: AreaChart, lines: LineChart } as const;

/** A chart of values over time, with its legend and a summary in words. */
export function Chart<T>({ title, summary, rows, series, label, format, kind }: ChartProps<T>): ReactNode {
  const Kind = CHARTS[kind];
  const data = rows.map((row) => ({
    label: label(row),
    ...Object.fromEntries(series.map(({ name, value }) => [name, value(row)])),
  }));
  return (
    <figure className="chart">
      <figcaption>
        <h2>{title}</h2>
        <p className="hint">{summary}</p>
        <ul className="legend">
          {series.map(({ name, color }) => (
            <li key={name}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={color} />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <div className="chart-field" aria-hidden="true">
        <Kind data={data} responsive width="100%" height="100%" accessibilityLayer={false}>
          <CartesianGrid vertical={false} stroke="var(--line)" />
          <XAxis dataKey="label" tickLine={false} axisLine={false} minTickGap={40} tick={TICK} />
          <YAxis
            width={56}
            tickLine={false}
            axisLine={false}
            allowDecimals={false}
            tick={TICK}
            tickFormatter={format}
          />
          <Tooltip
            formatter={(value) => (typeof value === 'number' ? format(value) : '')}
            isAnimationActive={false}
          />
          {series.map(({ name, color }) => shapeOf(kind, name, color))}
        </Kind>
      </div>
    </figure>
  );
}

const TICK = { fill: 'var(--ink-soft)', fontSize: 12 };

function shapeOf(kind: keyof typeof CHARTS, name: string, color: string): ReactNode {
  const still = { key: name, dataKey: name, isAnimationActive: false } as const;
  if (kind === 'bars') return <Bar {...still} key={name} stackId="all" fill={color} />;
  if (kind === 'areas') {
    return <Area {...still} key={name} stackId="all" stroke={color} fill={color} fillOpacity={0.25} />;
  }
  return <Line {...still} key={name} stroke={color} strokeWidth={2} dot={{ r: 2 }} connectNulls={false} />;
}
