import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Module {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** Modules of the house as paths from the root, packages and built-ins as they are named. */
  readonly imports: readonly string[];
}

function modulesUnder(folder: string): Module[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

function importsOf(path: string, text: string): string[] {
  const named = text.matchAll(
    /^(?:import|export)\s[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gms,
  );
  return [...named]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
    .map((name) => (name.startsWith('.') ? sourceOf(normalize(join(dirname(path), name))) : name));
}

function sourceOf(path: string): string {
  const component = path.replace(/\.js$/, '.tsx');
  return component !== path && existsSync(join(root, component)) ? component : path.replace(/\.js$/, '.ts');
}

const src = modulesUnder('src');
const isPackage = (name: string) => !name.startsWith('src/');

/** Imports that a rule does not allow, as `from → to`. */
function strays(folder: RegExp, isAllowed: (imported: string, importer: string) => boolean): string[] {
  return src
    .filter(({ path }) => folder.test(path))
    .flatMap(({ path, imports }) =>
      imports.filter((imported) => !isAllowed(imported, path)).map((imported) => `${path} → ${imported}`),
    );
}

describe('the layers', () => {
  it('has modules to look at', () => {
    for (const folder of ['src/core/', 'src/http/', 'src/surfaces/current/', 'src/adapters/']) {
      const inside = src.filter(({ path }) => path.startsWith(folder));
      expect(inside.length).toBeGreaterThan(5);
      expect(inside.flatMap(({ imports }) => imports).length).toBeGreaterThan(5);
    }
  });

  it('core imports nothing outside itself, no package either', () => {
    expect(strays(/^src\/core\//, (imported) => imported.startsWith('src/core/'))).toEqual([]);
  });

  it('the client imports nothing outside itself but the parser of streams, and each adapter its framework', () => {
    const frameworks: Record<string, readonly string[] | undefined> = {
      'ai-sdk': ['ai'],
      'assistant-ui': ['react', '@assistant-ui/react'],
    };
    const adapterOf = (path: string) => /^src\/client\/(ai-sdk|assistant-ui)\//.exec(path)?.[1];
    const isAllowed = (imported: string, importer: string) => {
      const [own, other] = [adapterOf(importer), adapterOf(imported)];
      if (imported.startsWith('src/client/')) return other === undefined || other === own;
      return imported === 'eventsource-parser' || frameworks[own ?? '']?.includes(imported) === true;
    };
    expect(strays(/^src\/client\//, isAllowed)).toEqual([]);
  });

  it('an adapter imports the core, itself, what Node and the network give, and packages', () => {
    const own = (path: string) => /^src\/adapters\/[^/]+\/(?:[^/]+\/)?/.exec(path)?.[0] ?? 'none';
    const shared = [
      ['src/adapters/', 'src/adapters/platform/'],
      // Prices are read from feeds, which are contracts on chains.
      ['src/adapters/tools/prices/', 'src/adapters/tools/evm/'],
      // What listens on this node is the same whatever carries signals between nodes.
      ['src/adapters/bus/', 'src/adapters/bus/local-listeners.ts'],
      ['src/adapters/stores/', 'src/adapters/stores/schema-version.ts'],
      ['src/adapters/stores/', 'src/adapters/stores/store-error.ts'],
      ['src/adapters/models/', 'src/adapters/models/'],
    ] as const;
    const isAllowed = (imported: string, importer: string) =>
      isPackage(imported) ||
      imported.startsWith('src/core/') ||
      imported.startsWith(own(importer)) ||
      shared.some(([from, to]) => importer.startsWith(from) && imported.startsWith(to));
    expect(strays(/^src\/adapters\//, isAllowed)).toEqual([]);
  });

  it('http imports of the core its refusals, its log and plain types', () => {
    const core = ['model/refusal', 'model/json', 'ports/store', 'ports/log'].map(
      (name) => `src/core/${name}.ts`,
    );
    const isAllowed = (imported: string) =>
      isPackage(imported) || imported.startsWith('src/http/') || core.includes(imported);
    expect(strays(/^src\/http\//, isAllowed)).toEqual([]);
  });

  it('a surface imports the core, http, what surfaces share, and never another surface', () => {
    const isShared = (imported: string) => /^src\/surfaces\/(shared|openapi)\/[\w-]+\.ts$/.test(imported);
    for (const name of ['current', 'legacy', 'field', 'admin']) {
      const isAllowed = (imported: string) =>
        isPackage(imported) ||
        ['src/core/', 'src/http/', `src/surfaces/${name}/`].some((folder) => imported.startsWith(folder)) ||
        isShared(imported);
      expect(strays(new RegExp(`^src/surfaces/${name}/`), isAllowed)).toEqual([]);
    }
  });

  it('what surfaces share knows no surface; merged and index alone read both', () => {
    const isAllowed = (imported: string, importer: string) =>
      isPackage(imported) ||
      imported.startsWith('src/core/') ||
      imported.startsWith('src/http/') ||
      /^src\/surfaces\/(shared|openapi)\/[\w-]+\.ts$/.test(imported) ||
      ['src/surfaces/merged.ts', 'src/surfaces/index.ts'].includes(importer);
    expect(strays(/^src\/surfaces\/(shared\/)?[\w-]+\.ts$/, isAllowed)).toEqual([]);
    const direct = src.filter(({ path }) => /^src\/surfaces\/[\w-]+\.ts$/.test(path)).map(({ path }) => path);
    expect(direct.sort()).toEqual(['src/surfaces/index.ts', 'src/surfaces/merged.ts']);
  });

  it('the parts of OpenAPI documents know nothing but each other', () => {
    const isAllowed = (imported: string) => /^src\/surfaces\/openapi\/[\w-]+\.ts$/.test(imported);
    expect(strays(/^src\/surfaces\/openapi\//, isAllowed)).toEqual([]);
  });

  it('a page knows http alone', () => {
    const isAllowed = (imported: string) => isPackage(imported) || /^src\/(http|pages)\//.test(imported);
    expect(strays(/^src\/pages\//, isAllowed)).toEqual([]);
  });

  it('Express is known to http, surfaces and pages alone', () => {
    const users = src.filter(({ imports }) => imports.some((name) => name.startsWith('express')));
    expect(
      users.filter(({ path }) => !/^src\/(http|surfaces|pages)\//.test(path)).map(({ path }) => path),
    ).toEqual([]);
  });

  it('a page imports the client, itself and packages, and none of Node’s', () => {
    const isAllowed = (imported: string) =>
      (isPackage(imported) && !imported.startsWith('node:')) ||
      imported.startsWith('src/client/') ||
      imported.startsWith('src/web/');
    expect(strays(/^src\/web\//, isAllowed)).toEqual([]);
    const users = src.filter(({ imports }) => imports.some((name) => name.startsWith('src/web/')));
    expect(users.filter(({ path }) => !path.startsWith('src/web/')).map(({ path }) => path)).toEqual([]);
  });

  it('a room of the core imports only rooms below it, and the files beside the rooms are on top', () => {
    // From the top down. Types count as values do.
    const floors = [
      ...[
        'operations',
        'streams',
        'turns',
        'wallet',
        'tools',
        'sessions',
        'rigs',
        'access',
        'ports',
        'model',
      ],
    ];
    const roomOf = (path: string): string => /^src\/core\/([\w-]+)\//.exec(path)?.[1] ?? 'top';
    const rooms = new Set(
      src.filter(({ path }) => path.startsWith('src/core/')).map(({ path }) => roomOf(path)),
    );
    expect([...rooms].sort()).toEqual(['top', ...floors].sort());
    const floorOf = (path: string): number => floors.indexOf(roomOf(path));
    const isAllowed = (imported: string, importer: string) => floorOf(imported) >= floorOf(importer);
    expect(strays(/^src\/core\//, isAllowed)).toEqual([]);
  });

  it('no modules import each other in a circle, types included', () => {
    const byPath = new Map(src.map((module) => [module.path, module]));
    const importsIn = ({ imports }: Module) => imports.filter((name) => byPath.has(name));
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      const module = byPath.get(path);
      if (done.has(path) || trail.includes(path) || module === undefined) return;
      for (const next of importsIn(module)) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const { path } of src) visit(path, []);
    expect(circles).toEqual([]);
  });
});

describe('the files', () => {
  const linesOf = (text: string) => text.trimEnd().split('\n').length;

  it('are small', () => {
    const long = src.filter(({ text }) => linesOf(text) > 300).map(({ path }) => path);
    expect(long).toEqual([]);
    const tests = modulesUnder('test').filter(({ text }) => linesOf(text) > 600);
    expect(tests.map(({ path }) => path)).toEqual([]);
    const sizes = src.map(({ text }) => linesOf(text)).sort((a, b) => a - b);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(100);
  });

  it('are few in each folder: 8 in core, 10 in http and in each store, 22 in any other', () => {
    const counts = new Map<string, number>();
    for (const { path } of src) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    const most = (folder: string): number => {
      if (folder === 'src/core') return 8;
      return folder === 'src/http' || /^src\/adapters\/stores\/\w+$/.test(folder) ? 10 : 22;
    };
    expect([...counts].filter(([folder, count]) => count > most(folder))).toEqual([]);
  });

  it('use no private member of Node or of a package, and give no type of theirs new fields', () => {
    const marks = [
      // A member that begins with an underscore, by a dot or by its name; a declared module that is augmented.
      /(?<![\w$])(?!this)[\w$\])]+\??\._[a-zA-Z]/,
      /Reflect\.\w+\([^)]*'_/,
      /^declare (module '(?!mathjs\/)|global)/m,
      /\[k[A-Z]\w+\]/,
    ];
    const users = src.filter(
      ({ path, text }) =>
        !path.startsWith('src/http/node-internals/') && marks.some((mark) => mark.test(text)),
    );
    expect(users.map(({ path }) => path)).toEqual([]);
    const [member, reflected, augmented] = marks;
    expect(member?.test('res._header')).toBe(true);
    expect(reflected?.test("Reflect.get(res, '_header')")).toBe(true);
    expect(augmented?.test("declare module 'node:http' {")).toBe(true);
  });

  it('have different names in a layer', () => {
    const names = new Map<string, string[]>();
    // The documents of a surface's routes are named after the routes.
    for (const { path } of src.filter(({ path }) => !path.includes('/openapi/'))) {
      const layer = /^src\/(?:adapters\/\w+\/[\w-]+|core\/[\w-]+|[\w-]+(?:\/[\w-]+)?)/.exec(path)?.[0] ?? '';
      const key = `${layer} ${basename(path)}`;
      names.set(key, [...(names.get(key) ?? []), path]);
    }
    expect([...names.values()].filter((paths) => paths.length > 1)).toEqual([]);
  });

  it('have names that say something', () => {
    const empty = /(^|[-.])(utils?|helpers?|common|misc|managers?)([-.]|$)/i;
    const nameless = src.filter(({ path }) => path.split('/').some((part) => empty.test(part)));
    expect(nameless.map(({ path }) => path)).toEqual([]);
  });

  it('use the spelling of the wire only where the wire is', () => {
    const spelled = src.filter(
      ({ path, text }) => path.startsWith('src/core/') && /\bsession_id\b/.test(text),
    );
    expect(spelled.map(({ path }) => path)).toEqual([]);
  });

  it('read the environment in one place, and never console', () => {
    const isFree = (path: string) =>
      path === 'src/config.ts' || path === 'src/main.ts' || path.startsWith('src/cli/');
    const readers = src.filter(
      ({ path, text }) => !isFree(path) && /\bprocess\.env\b|\bconsole\./.test(text),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  it('hold no default export, no silenced rule, no unfinished business', () => {
    const marks = /^export default|eslint-disable|@ts-ignore|@ts-expect-error|\b(TODO|FIXME|XXX)\b/m;
    const marked = [...src, ...modulesUnder('test')].filter(
      ({ path, text }) => path !== 'test/architecture.test.ts' && marks.test(text),
    );
    expect(marked.map(({ path }) => path)).toEqual([]);
  });
});
