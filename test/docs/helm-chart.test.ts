import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { isJsonObject, type JsonObject } from '../../src/core/model/json.js';
import { objectOf } from '../support/house.js';

const FOLDER = 'docs/examples/deploy/helm/diptych';
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, 'utf8');
const chart = objectOf(parse(read('Chart.yaml')));
const values = objectOf(parse(read('values.yaml')));
const templates = readdirSync(`${FOLDER}/templates`)
  .map((file) => read(`templates/${file}`))
  .join('\n');
const deployment = read('templates/deployment.yaml');

/** The paths of the values: those of objects lead on, those of empty objects, lists and scalars end. */
function pathsOf(object: JsonObject, prefix = ''): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = `${prefix}.${name}`;
    return isJsonObject(value) && Object.keys(value).length > 0 ? pathsOf(value, path) : [path];
  });
}

describe('the Helm chart', () => {
  it('installs the version of this package', () => {
    const { version } = objectOf(JSON.parse(readFileSync('package.json', 'utf8')));
    expect([chart.version, chart.appVersion]).toEqual([version, version]);
  });

  it('uses every value, and no value that there is not', () => {
    const used = new Set([...templates.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) => path));
    const known = pathsOf(values);
    const isPart = (path: string, whole: string) => path === whole || path.startsWith(`${whole}.`);
    expect(known.filter((path) => ![...used].some((other) => isPart(path, other)))).toEqual([]);
    expect([...used].filter((path) => !known.some((other) => isPart(other, path)))).toEqual([]);
  });

  it('quotes the configuration, because 0x… without quotes is a number in YAML 1.2', () => {
    expect(read('templates/configmap.yaml')).toContain('toPrettyJson .Values.config');
    expect(read('templates/configmap.yaml')).not.toContain('toYaml');
  });

  it('names variables that the service has', () => {
    const documented = readFileSync('docs/configuration.md', 'utf8');
    const set = [...deployment.matchAll(/name: ([A-Z_]+),/g)].map(([, name]) => name);
    const shown = [...read('values.yaml').matchAll(/([A-Z]+_[A-Z_]+):/g)].map(([, name]) => name);
    expect(set).toEqual(['HOST', 'PORT', 'DRAIN_TIMEOUT', 'DATABASE_URL', 'CONFIG_FILE']);
    expect(shown).toEqual(expect.arrayContaining(['DATABASE_URL', 'REDIS_URL', 'SECRETS_KEY']));
    for (const name of [...set, ...shown])
      expect([name, documented.includes(`\`${name ?? ''}\``)]).toEqual([name, true]);
  });

  it('gives a pod the time to drain', () => {
    const [, added = ''] =
      /terminationGracePeriodSeconds: .*add (\d+) \(int \.Values\.drainTimeout\)/.exec(deployment) ?? [];
    const [, paused = ''] = /command: \[sleep, '(\d+)'\]/.exec(deployment) ?? [];
    // The process ends by itself 15 seconds after DRAIN_TIMEOUT.
    expect(Number(added)).toBeGreaterThan(Number(paused) + 15);
  });

  describe('has a schema', () => {
    const isValid = new Ajv({ strict: false }).compile(objectOf(JSON.parse(read('values.schema.json'))));

    it('that takes the values of the chart, and of both ways to run it', () => {
      expect(isValid(values)).toBe(true);
      expect(isValid({ ...values, sqlite: { enabled: true, size: '5Gi' } })).toBe(true);
      const secrets = { DATABASE_URL: { name: 'db', key: 'uri' }, SECRETS_KEY: { name: 'keys', key: 'k' } };
      expect(isValid({ ...values, secrets, settings: { MAX_QUEUED: '20' } })).toBe(true);
    });

    it.each<[string, JsonObject]>([
      ['an unknown value', { replicaCount: 3 }],
      ['no node', { replicas: 0 }],
      ['no time to drain', { drainTimeout: 0 }],
      ['a number as a variable', { settings: { MAX_SESSION_BYTES: 33_554_432 } }],
      ['a variable that the chart sets', { settings: { DRAIN_TIMEOUT: '30' } }],
      [
        'a database with its password among the settings',
        { settings: { DATABASE_URL: 'postgres://a:b@c/d' } },
      ],
      ['a secret as text', { secrets: { SECRETS_KEY: 'AAAA' } }],
      ['an ingress without a host', { ingress: { enabled: true, host: '' } }],
    ])('that refuses %s', (_what, wrong) => {
      expect(isValid({ ...values, ...wrong })).toBe(false);
    });
  });
});
