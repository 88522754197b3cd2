import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createRequire } from 'node:module';
import type { Abi, Hex } from 'viem';
import { z } from 'zod';

/** A compiled contract. */
export interface Artefact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

const output = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        abi: z.custom<Abi>(Array.isArray),
        evm: z.object({ bytecode: z.object({ object: z.string() }) }),
      }),
    ),
  ),
});

/**
 * Compiles Solidity files of `test/support/contracts`, in a process of its own; about a second. The contracts by their
 * names.
 */
export async function compileContracts(...files: readonly string[]): Promise<ReadonlyMap<string, Artefact>> {
  const sources = await Promise.all(
    files.map(async (file) => {
      const content = await readFile(new URL(`contracts/${file}`, import.meta.url), 'utf8');
      return [file, { content }] as const;
    }),
  );
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(sources),
    settings: { evmVersion: 'paris', outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  };
  const compiler = createRequire(import.meta.url).resolve('solc/solc.js');
  const child = spawn(process.execPath, [compiler, '--standard-json'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(input));
  const [json] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const { contracts, errors = [] } = output.parse(JSON.parse(json.slice(json.indexOf('{'))));
  const worst = errors.filter(({ severity }) => severity === 'error');
  if (worst.length > 0) throw new Error(worst.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return new Map(
    Object.values(contracts).flatMap((inFile) =>
      Object.entries(inFile).map(([name, { abi, evm }]): [string, Artefact] => [
        name,
        { abi, bytecode: `0x${evm.bytecode.object}` },
      ]),
    ),
  );
}
