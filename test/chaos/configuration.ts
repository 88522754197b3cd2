import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostileChain } from './hostile-chain.js';
import type { ScriptedUpstream } from './upstream.js';
import { BANK_CHAIN, type Bank } from './wallets/bank.js';

/**
 * Writes what the servers are configured with: the scripted model, a tool that must never run twice, and chains.
 * @param bank the chain of wallets; null: there is none
 */
export function writeConfiguration(
  directory: string,
  { url, bookUrl }: ScriptedUpstream,
  chain: HostileChain,
  bank: Bank | null,
): void {
  const hosts = [chain.host, ...(bank === null ? [] : [bank.host])];
  const bankChain =
    bank === null
      ? ''
      : `
  - id: ${String(BANK_CHAIN)}
    name: Bank
    rpcUrls: [${bank.url}]
    ens: null`;
  writeFileSync(
    join(directory, 'diptych.yaml'),
    `rigs:
  - id: scripted
    name: Scripted
    provider: openai-compatible
    model: scripted
    baseUrl: ${url}
    apiKey: sk-scripted
chains:
  - id: 1337
    name: Scripted
    rpcUrls: [${chain.url}]
    ens: null${bankChain}
allowHosts: ${JSON.stringify(hosts)}
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
