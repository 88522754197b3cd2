import type { Log } from '../../src/core/ports/log.js';

/** A log whose lines can be waited for. */
export interface Lines {
  readonly log: Log;
  readonly lines: string[];
  /** Resolves once so many lines contain the words. */
  has(words: string, count?: number): Promise<void>;
}

export function collectLines(): Lines {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const add = (level: string) => (_fields: object, message: string) => {
    lines.push(`${level} ${message}`);
    for (const look of waiting) look();
  };
  return {
    log: { info: add('info'), warn: add('warn'), error: add('error') },
    lines,
    has: (words, count = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (lines.filter((line) => line.includes(words)).length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
