import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { randomUUID } from 'node:crypto';
import type { Input } from '../../src/http/validation/input.js';
import { createStreams } from '../../src/http/sse/streams.js';
import * as currentInput from '../../src/surfaces/current/input.js';
import * as fieldInput from '../../src/surfaces/field/input.js';
import { listMounts, type SurfaceName } from '../../src/surfaces/index.js';
import * as legacyInput from '../../src/surfaces/legacy/input.js';
import type {
  Document,
  MediaType,
  Operation,
  Parameter,
  Schema,
} from '../../src/surfaces/openapi/document.js';
import { fakeCore } from '../support/fake-core.js';
import { serveScripted, TEST_HTTP } from '../support/http.js';
import { documents, findMistake } from '../support/openapi/documents.js';

const NAMES = ['current', 'legacy', 'field'] as const;
const METHODS = ['get', 'post', 'patch', 'delete'] as const;

interface Documented {
  readonly surface: SurfaceName;
  readonly document: Document;
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
  /** True when the path is not under the base of its surface. */
  readonly atRootAlone: boolean;
}

function operationsOf(surface: SurfaceName): Documented[] {
  const document = documents[surface];
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      const atRootAlone = item.servers !== undefined;
      return operation === undefined ? [] : [{ surface, document, path, method, operation, atRootAlone }];
    }),
  );
}

const all = NAMES.flatMap(operationsOf);
const title = ({ surface, method, path }: Documented) => `${surface}: ${method.toUpperCase()} ${path}`;

describe.each(NAMES)('the document of %s', (name) => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    // The validator writes into what it is given.
    const copy = structuredClone({ ...documents[name] });
    expect(await validator.validate(copy)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('refers to what there is, and has nothing that nobody refers to but the answers to what is no operation', () => {
    const { components } = documents[name];
    const text = JSON.stringify(documents[name]);
    const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)].map(([, to]) => to));
    const there = ['schemas', 'responses', 'headers'] as const;
    const names = there.flatMap((kind) => Object.keys(components[kind]).map((key) => `${kind}/${key}`));
    expect([...referred].filter((to) => !names.includes(to ?? ''))).toEqual([]);
    const alone = ['Options', 'MethodNotAllowed', 'TooLate', 'VersionNotSupported'].map(
      (key) => `responses/${key}`,
    );
    // It says which events have ids.
    const unused = names.filter((to) => !referred.has(to) && to !== 'schemas/LoggedEvent');
    expect(unused.sort()).toEqual(alone.sort());
  });

  it('has operations with names of their own, security schemes and tags that there are', () => {
    const document = documents[name];
    const operations = operationsOf(name).map(({ operation }) => operation);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const schemes = operations.flatMap(({ security }) => security.flatMap((one) => Object.keys(one)));
    expect([...new Set(schemes)].sort()).toEqual(Object.keys(document.components.securitySchemes).sort());
    const tags = [...new Set(operations.flatMap((operation) => operation.tags))];
    expect(tags.sort()).toEqual(document.tags.map((tag) => tag.name).sort());
  });
});

describe('paths and methods', () => {
  const about = { version: '', surfaces: [] };
  const parts = { core: fakeCore({}), streams: createStreams(TEST_HTTP), about };
  const inOpenapi = (path: string) => path.replace(/:(\w+)/g, '{$1}');

  it.each([
    [['current'], 'merged', ['current']],
    [['legacy'], 'merged', ['legacy']],
    [['field'], 'merged', ['field']],
    [['current', 'legacy'], 'merged', ['current', 'legacy']],
    [['legacy', 'field'], 'merged', ['legacy']],
    [['current', 'legacy', 'field'], 'merged', ['current', 'legacy']],
    [['current', 'legacy', 'field'], 'field', ['field']],
  ] as const)('are those that are served with %j and %s at the root', (exposed, root, atRoot) => {
    for (const { base, routes } of listMounts(parts, exposed, root)) {
      const served = routes.map(({ method, path }) => `${method} ${inOpenapi(path)}`);
      const documented = all
        .filter(({ surface }) =>
          base === '' ? atRoot.some((name) => name === surface) : base === `/${surface}`,
        )
        .filter(({ atRootAlone }) => base === '' || !atRootAlone)
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
      expect([base, ...new Set(served)].sort()).toEqual([base, ...new Set(documented)].sort());
      expect(served.length).toBeGreaterThan(5);
    }
  });
});

describe('parameters', () => {
  type Asked = Pick<Input<Record<string, unknown>>, 'params' | 'body'>;
  const ids = {
    'current getSession': 'nameSession',
    'current deleteSession': 'nameSession',
    'current archiveSession': 'nameSession',
    'current unarchiveSession': 'nameSession',
  };
  const aliases: Readonly<Record<string, string>> = {
    ...ids,
    'current listSecrets': 'clientSecrets',
    'current clearSecrets': 'clientSecrets',
    'current deleteSecret': 'oneSecret',
    'field getSession': 'nameSession',
    'field deleteSession': 'nameSession',
    'field unarchiveSession': 'archiveSession',
    'legacy readState': 'querySession',
    'legacy interrupt': 'querySession',
  };
  /** Operations that check nothing. */
  const free = ['readHealth', 'readHealthWord', 'readNonce', 'refuseAction', 'readAccount', 'readSettings'];
  const inputs: Readonly<Record<SurfaceName, Readonly<Record<string, Asked>>>> = {
    current: { ...currentInput },
    legacy: { ...legacyInput },
    field: onlyInputs(fieldInput),
  };
  /** What a handler reads beside its input. */
  const beside = ['Prefer', 'If-None-Match', 'X-Wallet-Proof'];
  /** The key of the field surface comes in one of several headers. */
  const schemesBeside = { current: [], legacy: [], field: ['appKey'] } as const;

  const checked = all.filter(
    ({ surface, operation: { operationId } }) =>
      !free.includes(operationId) && !free.includes(`${surface} ${operationId}`),
  );

  it.each(checked.map((one) => [title(one), one] as const))(
    'of %s are those that its input takes',
    (_, one) => {
      const { surface, operation, document } = one;
      const input = inputs[surface][aliases[`${surface} ${operation.operationId}`] ?? operation.operationId];
      if (input === undefined) throw new Error(`${surface} has no input ${operation.operationId}`);
      const taken = Object.values(input.params);
      const lines = (wanted: readonly string[]) => [...wanted].sort();
      const line = (place: string, name: string, required: boolean) =>
        `${place} ${name}${required ? ' (required)' : ''}`;

      const documented = (operation.parameters ?? [])
        .filter(({ name }) => !beside.includes(name))
        .map((param) => line(param.in, param.name, param.required));
      const header = ({ name }: Schema) => String(name);
      const credentials = Object.entries(document.components.securitySchemes)
        .filter(([scheme]) => operation.security.some((one) => scheme in one))
        .filter(([scheme]) => !schemesBeside[surface].some((name) => name === scheme))
        .map(([scheme, about]) => {
          const required = scheme === 'session' && operation.security.every((one) => scheme in one);
          return line('header', header(about), required);
        });
      const places = { query: 'query', 'query-only': 'query', headers: 'header', params: 'path' } as const;
      const asked = taken.flatMap(({ name, place, required }) =>
        place === 'body' ? [] : [line(places[place], name, required)],
      );
      expect(lines([...documented, ...credentials])).toEqual(lines(asked));

      const schema = operation.requestBody?.content['application/json']?.schema;
      const inBody = taken.filter(
        ({ place }) => place === 'body' || (place === 'query' && input.body !== 'ignored'),
      );
      expect(namesIn(schema?.properties)).toEqual(
        input.body === 'ignored' ? [] : inBody.map(({ name }) => name).sort(),
      );
      const needed = inBody.filter(({ place, required }) => place === 'body' && required);
      expect(schema?.required ?? []).toEqual(needed.map(({ name }) => name));
      expect(operation.requestBody?.required ?? false).toBe(needed.length > 0);
    },
  );
});

/** The inputs of a module, without its other members. */
function onlyInputs(
  module: object,
): Readonly<Record<string, Pick<Input<Record<string, unknown>>, 'params' | 'body'>>> {
  const isInput = (member: unknown): member is Input<Record<string, unknown>> =>
    typeof member === 'object' && member !== null && 'params' in member && 'body' in member;
  return Object.fromEntries(
    Object.entries(module).flatMap(([name, member]: [string, unknown]) =>
      isInput(member) ? [[name, member]] : [],
    ),
  );
}

/** The names of a schema's properties, sorted. */
function namesIn(properties: unknown): string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties).sort() : [];
}

describe('examples', () => {
  interface Example {
    readonly where: string;
    readonly surface: SurfaceName;
    readonly schema: Schema;
    readonly value: unknown;
  }
  const ofMedia = (surface: SurfaceName, where: string, content: Readonly<Record<string, MediaType>> = {}) =>
    Object.entries(content).flatMap(([type, { schema, example: value, ...media }]): Example[] => {
      const events = media['x-event-schema'];
      if (value === undefined) return [];
      if (events === undefined) return [{ where: `${where} ${type}`, surface, schema, value }];
      expect(typeof value).toBe('string');
      const text = typeof value === 'string' ? value : '';
      const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']): unknown => JSON.parse(json));
      expect(data.length).toBeGreaterThan(0);
      return data.map((event) => ({ where, surface, schema: { ...events }, value: event }));
    });
  const ofParameters = (surface: SurfaceName, where: string, parameters: readonly Parameter[] = []) =>
    parameters.flatMap(({ name, schema, example: value }): Example[] =>
      schema === undefined || value === undefined
        ? []
        : [{ where: `${where} ${name}`, surface, schema, value }],
    );
  const examples = all.flatMap((one): Example[] => {
    const { surface, operation } = one;
    const answers = Object.entries(operation.responses).flatMap(([status, response]) =>
      '$ref' in response ? [] : ofMedia(surface, `${title(one)} → ${status}`, response.content),
    );
    const body = ofMedia(surface, `${title(one)} body`, operation.requestBody?.content);
    return [...answers, ...body, ...ofParameters(surface, title(one), operation.parameters)];
  });

  it('are as their schemas say', () => {
    const mistakes = examples.flatMap(({ where, surface, schema, value }) => {
      const mistake = findMistake(surface, schema, value);
      return mistake === undefined ? [] : [`${where}: ${mistake}`];
    });
    expect(mistakes).toEqual([]);
  });

  it('stand at every successful answer with content', () => {
    const without = all.flatMap((one) =>
      Object.entries(one.operation.responses).flatMap(([status, response]) =>
        '$ref' in response ||
        response.content === undefined ||
        examples.some(({ where }) => where.startsWith(`${title(one)} → ${status}`))
          ? []
          : [title(one)],
      ),
    );
    expect(without).toEqual([]);
  });
});

describe('served', () => {
  let server: Awaited<ReturnType<typeof serveScripted>>;
  beforeAll(async () => (server = await serveScripted({ surfaces: NAMES })));
  afterAll(() => server.close());

  it.each(NAMES)('the document of %s is JSON with a tag', async (name) => {
    const path = `/openapi/${name}.json`;
    const { status, headers, json } = await server.ask('GET', path);
    expect([status, json]).toEqual([200, documents[name]]);
    expect(headers.get('cache-control')).toBe('no-cache');
    const tag = headers.get('etag') ?? 'none';
    const again = await server.ask('GET', path, { headers: { 'If-None-Match': tag } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    const head = await server.ask('HEAD', path);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, headers.get('content-length')]);
    expect(head.text).toBe('');
  });

  it('the reference may load what this service serves alone', async () => {
    const { status, headers, text } = await server.ask('GET', '/docs');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const loaded = [...text.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(loaded).toHaveLength(5);
    for (const path of loaded) {
      const file = await server.ask('GET', path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.text.length).toBeGreaterThan(100);
      expect(file.headers.get('content-type')).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/png)$/,
      );
    }
    expect(text).not.toMatch(/<script>|https?:|\son\w+=/);
  });

  it('other methods and unknown names are refused in JSON', async () => {
    for (const path of ['/docs', '/docs/start.js', '/openapi/current.json']) {
      const posted = await server.ask('POST', path);
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(posted.json).toMatchObject({ code: 'method_not_allowed' });
    }
    for (const path of [
      '/docs/index.html',
      '/docs/..%2f..%2fpackage.json',
      '/openapi/other.json',
      '/openapi',
    ]) {
      const missing = await server.ask('GET', path);
      expect([path, missing.status]).toEqual([path, 404]);
      expect(missing.json).toMatchObject({ code: 'not_found' });
    }
  });

  it('what is not exposed has no document', async () => {
    const alone = await serveScripted({ surfaces: ['legacy'] });
    expect((await alone.ask('GET', '/openapi/current.json')).status).toBe(404);
    const { json } = await alone.ask('GET', '/openapi/legacy.json');
    expect(json).toMatchObject({ servers: [{ url: '/legacy' }, { url: '/', description: 'The same.' }] });
    expect((await alone.ask('GET', '/docs/start.js')).text).not.toContain('current');
    expect((await alone.ask('GET', '/docs')).status).toBe(200);
    await alone.close();
  });

  it('no session is made or counted by looking at them', async () => {
    const session = randomUUID();
    expect((await server.ask('GET', '/docs', { session })).status).toBe(200);
    expect((await server.ask('GET', `/api/sessions/${session}`)).status).toBe(404);
  });
});
