/** The schema of a database is not the one of this version of the program. */
export class SchemaVersionError extends Error {
  override readonly name = 'SchemaVersionError';

  /**
   * @param kind the database is newer than the program, older and may not be migrated, empty and must not be, or one of
   * another program
   */
  constructor(
    readonly kind: 'newer' | 'older' | 'empty' | 'foreign',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Checks the schema of a database before its migration. An empty database, version 0, always passes.
 * @param found the number of the last migration that was applied to the database
 * @param known the number of the last migration of this program
 * @param migrates whether an older schema may be migrated
 * @throws SchemaVersionError
 */
export function requireSchema(found: number, known: number, migrates: boolean): void {
  if (found > known) {
    throw new SchemaVersionError(
      'newer',
      `the database was written by a newer version of this program: its schema is ${String(found)}, and this version ` +
        `supports ${String(known)}. Start the newer version, or restore a backup made by this one.`,
    );
  }
  if (!migrates && found > 0 && found < known) {
    throw new SchemaVersionError(
      'older',
      `the database was written by an older version of this program: its schema is ${String(found)}, and this version ` +
        `needs ${String(known)}. Start the service of this version, which migrates it, or use the older version.`,
    );
  }
}
