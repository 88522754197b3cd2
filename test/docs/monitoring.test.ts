import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import { objectOf, openHouse, type House } from '../support/house.js';
import { parseScrape } from '../support/prometheus.js';

const docs = new URL('../../docs/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, docs), 'utf8');
const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('this is no text');
  return value;
}

const FUNCTIONS =
  'sum|min|max|by|topk|rate|increase|histogram_quantile|and|on|ignoring|or|unless|absent|changes|label_values|min_over_time';
const NAMES = new RegExp(`\\b(?!(?:${FUNCTIONS})\\b)[a-z][a-z0-9_]*`, 'g');

/** The metrics that an expression reads: what is left of it without labels, durations and functions. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/\bby \([^)]*\)/g, ' ');
  return bare.match(NAMES) ?? [];
}

let house: House;
let exposed: Set<string>;
/** The service's own metrics, by family. */
let families: readonly { readonly name: string; readonly kind: string }[];
beforeAll(async () => {
  house = await openHouse({ metrics: { token: null } });
  families = (await house.telemetry.metrics?.read()) ?? [];
  const scraped = parseScrape((await house.ask('GET', '/metrics')).text).samples.map(({ name }) => name);
  const own = families.flatMap(({ name, kind }) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  // Each collection of garbage makes its own, which there may not have been yet.
  exposed = new Set([...own, ...scraped, 'nodejs_gc_duration_seconds_sum']);
});
afterAll(() => house.close());

describe('the Grafana dashboard', () => {
  const dashboard = objectOf(JSON.parse(read('grafana/diptych.json')));
  const panels = objects(dashboard.panels);
  const expressions = panels.flatMap(({ targets }) => objects(targets).map(({ expr }) => textOf(expr)));

  it('reads metrics that the service has, and every one of its own', () => {
    expect(expressions.length).toBeGreaterThan(30);
    const used = new Set(expressions.flatMap(metricsIn));
    expect([...used].filter((name) => !exposed.has(name))).toEqual([]);
    const unused = families.filter(
      ({ name }) => ![...used].some((one) => one === name || one === `${name}_bucket`),
    );
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  it('asks the data source that is chosen, for the nodes that are chosen', () => {
    const { list } = objectOf(dashboard.templating);
    expect(objects(list).map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['instance', 'query'],
    ]);
    const sources = JSON.stringify(dashboard).match(/"uid":"(?!diptych)[^"]*"/g) ?? [];
    expect(new Set(sources)).toEqual(new Set(['"uid":"${datasource}"']));
    for (const expression of expressions) {
      const selectors = expression.match(/\{[^}]*\}/g) ?? [];
      expect(selectors.length).toBe(metricsIn(expression).length);
      for (const selector of selectors) expect(selector).toContain('{job=~"$job",instance=~"$instance"');
    }
  });

  it('has panels that lie side by side, each with its own id', () => {
    const places = panels.map((panel) => ({ id: panel.id, ...objectOf(panel.gridPos) }));
    expect(new Set(places.map(({ id }) => id)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const place of panels.map(({ gridPos }) => objectOf(gridPos))) {
      const [x, y, w, h] = [place.x, place.y, place.w, place.h].map(Number);
      for (let column = Number(x); column < Number(x) + Number(w); column++) {
        for (let line = Number(y); line < Number(y) + Number(h); line++) {
          expect(column).toBeLessThan(24);
          const cell = `${String(column)} ${String(line)}`;
          expect([cell, taken.has(cell)]).toEqual([cell, false]);
          taken.add(cell);
        }
      }
    }
  });
});

describe('the alert rules', () => {
  const groups = objects(objectOf(parse(read('prometheus/alerts.yaml'))).groups);
  const rules = groups.flatMap(({ rules: inside }) => objects(inside));

  it('read metrics that the service has', () => {
    expect(rules.length).toBeGreaterThan(8);
    const used = rules.flatMap(({ expr }) => metricsIn(textOf(expr)));
    // `up` is Prometheus' own.
    expect(used.filter((name) => name !== 'up' && !exposed.has(name))).toEqual([]);
  });

  it('have a severity and a row in docs/runbook.md, which has no others', () => {
    const rows = read('runbook.md').matchAll(/^\| `(Diptych\w+)` \| (\w+) \|/gm);
    expect([...rows].map(([, alert, severity]) => [alert, severity])).toEqual(
      rules.map(({ alert, labels }) => [alert, objectOf(labels).severity]),
    );
    for (const { labels, annotations } of rules) {
      expect(['page', 'ticket']).toContain(objectOf(labels).severity);
      expect(Object.keys(objectOf(annotations))).toEqual(['summary', 'description', 'runbook']);
      expect(objectOf(annotations).runbook).toBe('docs/runbook.md#alerts');
    }
  });

  it('have labels that their metrics have', () => {
    const given = new Map([
      ['status', 'diptych_http_requests_total diptych_store_turns'],
      ['outcome', 'diptych_turns_total'],
      ['reason', 'diptych_turns_left_total'],
      ['operation', 'diptych_store_errors_total diptych_store_operation_duration_seconds_count'],
      ['job', ''],
    ]);
    for (const { expr } of rules) {
      for (const [, metric = '', labels = ''] of textOf(expr).matchAll(/(\w+)\{([^}]*)\}/g)) {
        for (const [, label = ''] of labels.matchAll(/(\w+)\s*=/g)) {
          expect(given.has(label)).toBe(true);
          if (label !== 'job') expect(given.get(label)?.split(' ')).toContain(metric);
        }
      }
    }
  });
});
