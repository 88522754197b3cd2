import { ConfigError, type Mistake } from './mistakes.js';

/** What a YAML file says, after its variables were filled in. */
export interface FileTree {
  readonly tree: unknown;
  /** Variables that are not set; `path` as the schema's issues have it. */
  readonly unset: readonly { readonly path: readonly PropertyKey[]; readonly variable: string }[];
}

/**
 * Parses YAML and fills in `${NAME}` from the environment; `$${NAME}` stays `${NAME}`. Variables are filled in after
 * parsing, so that no value can add structure.
 * @throws ConfigError with the line and column of each place that is not YAML; the source is never quoted
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
  let parsed: unknown;
  try {
    parsed = document.toJS({ maxAliasCount: 100 });
  } catch {
    // The library's words quote the source, which may hold keys.
    throw new ConfigError([
      { where: file, what: 'has aliases that cannot be resolved, or too many of them' },
    ]);
  }
  const unset: { path: readonly PropertyKey[]; variable: string }[] = [];
  return { tree: fillIn(parsed, []), unset };

  function fillIn(value: unknown, path: readonly PropertyKey[]): unknown {
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
    if (Array.isArray(value)) return value.map((item, index) => fillIn(item, [...path, index]));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, fillIn(item, [...path, key])]),
      );
    }
    return value;
  }
}

/** A path as people write it: `apps[1].rigs[0]`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) =>
      typeof key === 'number' ? `${text}[${String(key)}]` : `${text}${text === '' ? '' : '.'}${String(key)}`,
    '',
  );
}
