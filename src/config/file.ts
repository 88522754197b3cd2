import { ConfigError, type Mistake } from './mistakes.js';

/** A parsed YAML file with its variables substituted. */
export interface FileTree {
  readonly tree: unknown;
  /** References to variables that are not set. `path` has the format of the schema's issues. */
  readonly unset: readonly { readonly path: readonly PropertyKey[]; readonly variable: string }[];
}

/**
 * Parses YAML and substitutes `${NAME}` from the environment; `$${NAME}` becomes a literal `${NAME}`. Substitution
 * follows parsing, so that a value cannot add structure.
 * @throws ConfigError with line and column of each syntax error; it never quotes the source
 */
export async function readYaml(
  source: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FileTree> {
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    throw new ConfigError(
      faults.map(({ pos, code }): Mistake => {
        const { line, col } = lines.linePos(pos[0]);
        const kind = code.toLowerCase().replaceAll('_', ' ');
        return {
          where: file,
          what: `line ${String(line)}, column ${String(col)} is not valid YAML (${kind})`,
        };
      }),
    );
  }
  const unset: { path: readonly PropertyKey[]; variable: string }[] = [];
  try {
    return { tree: fillIn(document.toJS({ maxAliasCount: 100 }), [], []), unset };
  } catch {
    // The library's error quotes the source, which may contain keys.
    throw new ConfigError([
      { where: file, what: 'has aliases that cannot be resolved, or too many of them' },
    ]);
  }

  function fillIn(value: unknown, path: readonly PropertyKey[], within: readonly unknown[]): unknown {
    if (typeof value === 'string') {
      return value.replaceAll(
        /\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g,
        (whole, escaped?: string, name?: string) => {
          if (escaped !== undefined || name === undefined) return '${';
          const given = env[name];
          if (given === undefined || given === '') unset.push({ path, variable: name });
          return given ?? whole;
        },
      );
    }
    if (typeof value !== 'object' || value === null) return value;
    if (within.includes(value)) throw new RangeError('an alias refers to what contains it');
    const fillItem = (key: PropertyKey, item: unknown): unknown =>
      fillIn(item, [...path, key], [...within, value]);
    if (Array.isArray(value)) return value.map((item, index) => fillItem(index, item));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillItem(key, item)]));
  }
}

/** Formats a path: `apps[1].rigs[0]`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${String(key)}]` : `${text}${text === '' ? '' : '.'}${String(key)}`,
    '',
  );
}
