/** One thing that is wrong with the configuration: where, and what would be right. Never holds a secret's value. */
export interface Mistake {
  /** A variable (`PORT`), a flag (`--port`), or a place in the file (`diptych.yaml: apps[1].rigs[0]`). */
  readonly where: string;
  readonly what: string;
}

/** The configuration cannot be used. `message` lists every mistake, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(({ where, what }) => `${where}: ${what}`).join('\n'));
  }
}

/** Throws what has been collected, if anything. @throws ConfigError */
export function refuseMistakes(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}
