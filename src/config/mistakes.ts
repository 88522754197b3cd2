/** A mistake in the configuration. Never contains the value of a secret. */
export interface Mistake {
  /** A variable (`PORT`), a flag (`--port`), or a place in the file (`diptych.yaml: apps[1].rigs[0]`). */
  readonly where: string;
  /** What is wrong or what would be valid; follows `where: `. */
  readonly what: string;
}

/** The configuration is invalid. `message` lists every mistake on its own line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(({ where, what }) => `${where}: ${what}`).join('\n'));
  }
}

/** @throws ConfigError when there are mistakes */
export function refuseMistakes(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}
