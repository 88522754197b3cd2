import type BetterSqlite3 from 'better-sqlite3';

/**
 * better-sqlite3 13 has prebuilt binaries and needs Node 22; version 12, for Node 20, is compiled when it is installed.
 * npm installs the one that fits (docs/decisions/029-sqlite-driver.md).
 */
const isOld = Number.parseInt(process.versions.node, 10) < 22;
const PACKAGE = isOld ? '@diptych/sqlite-node20' : 'better-sqlite3';

/** The constructor of databases, from the driver for this version of Node. */
export const SqliteDatabase = await loadDriver();

async function loadDriver(): Promise<typeof BetterSqlite3> {
  const loaded: unknown = await import(PACKAGE).catch((cause: unknown) => {
    const needs = isOld ? '; on Node 20 it is compiled, which needs Python 3 and a C++ compiler' : '';
    throw new Error(
      `the SQLite driver ${PACKAGE} is not installed for this version of Node: run npm ci${needs}`,
      {
        cause,
      },
    );
  });
  if (!isDriver(loaded)) throw new Error(`${PACKAGE} does not export a constructor of databases`);
  return loaded.default;
}

function isDriver(loaded: unknown): loaded is { readonly default: typeof BetterSqlite3 } {
  return (
    typeof loaded === 'object' &&
    loaded !== null &&
    'default' in loaded &&
    typeof loaded.default === 'function'
  );
}
