import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedUpstream } from './upstream.js';

/** Writes what the servers are configured with: the scripted model, and a tool that must never run twice. */
export function writeConfiguration(directory: string, { url, bookUrl }: ScriptedUpstream): void {
  writeFileSync(
    join(directory, 'diptych.yaml'),
    `rigs:
  - id: scripted
    name: Scripted
    provider: openai-compatible
    model: scripted
    baseUrl: ${url}
    apiKey: sk-scripted
tools: ./tools/*.mjs
`,
  );
  mkdirSync(join(directory, 'tools'));
  writeFileSync(
    join(directory, 'tools', 'book.mjs'),
    `export const tool = {
  name: 'book_entry',
  description: 'Notes an entry in the books.',
  parameters: { type: 'object', properties: { entry: { type: 'string' } }, required: ['entry'] },
  sideEffects: 'yes',
  async run({ entry }, { signal }) {
    const response = await fetch('${bookUrl}', { method: 'POST', body: JSON.stringify({ entry }), signal });
    if (!response.ok) throw new Error('The books are closed.');
    return { result: entry };
  },
};
`,
  );
}
