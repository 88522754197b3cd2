/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A scrape as Prometheus understands it. */
export interface Scrape {
  readonly samples: readonly Sample[];
  /** The sum of the samples of this name that have these labels; undefined when there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\["\\\\n])*)"';
const LINE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`);
const SUFFIXES = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] } as const;

/** Reads Prometheus' text format 0.0.4. @throws Error on whatever the format forbids */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line is not ended');
  const types = new Map<string, string>();
  const helps = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  const closed = new Set<string>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, word, about = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`).exec(line) ?? [];
    if (word === 'HELP') {
      if (helps.has(about)) throw new Error(`a second HELP of ${about}`);
      helps.add(about);
    } else if (word === 'TYPE') {
      if (types.has(about)) throw new Error(`a second TYPE of ${about}`);
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) throw new Error(line);
      types.set(about, rest);
      closed.add(family);
      family = about;
    } else {
      const sample = parseLine(line);
      const type = types.get(family);
      const names = type === 'histogram' || type === 'summary' ? SUFFIXES[type] : [''];
      if (!names.some((suffix) => sample.name === family + suffix) || closed.has(family)) {
        throw new Error(`a sample outside of its family ${family}: ${line}`);
      }
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      if (seen.has(key)) throw new Error(`twice: ${line}`);
      seen.add(key);
      samples.push(sample);
    }
  }
  for (const [name, type] of types) {
    if (!helps.has(name)) throw new Error(`${name} has no HELP`);
    if (type === 'histogram') checkHistogram(name, samples);
  }
  return {
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function parseLine(line: string): Sample {
  const [, name, pairs = ''] = LINE.exec(line) ?? [];
  const number = line.slice(line.lastIndexOf(' ') + 1);
  if (name === undefined) throw new Error(`no sample: ${line}`);
  if (!/^([+-]?Inf|NaN|[+-]?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(number)) throw new Error(`no number: ${line}`);
  const labels = [...pairs.matchAll(new RegExp(LABEL, 'g'))].map(
    ([, label = '', value = '']): [string, string] => [
      label,
      value.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character)),
    ],
  );
  return { name, labels: Object.fromEntries(labels), value: Number(number.replace('Inf', 'Infinity')) };
}

/** Buckets only grow, end with `+Inf`, and the last one counts all. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, { labels: Sample['labels']; buckets: { le: number; value: number }[] }>();
  for (const { name: full, labels, value } of samples) {
    if (full !== `${name}_bucket`) continue;
    const { le, ...others } = labels;
    const key = JSON.stringify(Object.entries(others).sort());
    const known = series.get(key) ?? { labels: others, buckets: [] };
    known.buckets.push({ le: le === '+Inf' ? Infinity : Number(le), value });
    series.set(key, known);
  }
  for (const [key, { labels, buckets }] of series) {
    const count = samples.find(
      (sample) =>
        sample.name === `${name}_count` &&
        Object.entries(sample.labels).every(([label, value]) => labels[label] === value),
    );
    const grows = buckets.every(
      ({ le, value }, index) =>
        index === 0 || (le > (buckets[index - 1]?.le ?? 0) && value >= (buckets[index - 1]?.value ?? 0)),
    );
    if (!grows || buckets.at(-1)?.le !== Infinity || buckets.at(-1)?.value !== count?.value) {
      throw new Error(`a broken histogram: ${name} ${key}`);
    }
  }
}
