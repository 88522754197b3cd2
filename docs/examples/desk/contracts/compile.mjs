// Makes Desk.json from Desk.sol:  node docs/examples/desk/contracts/compile.mjs  (--print only shows it)
// Needed only when Desk.sol changes: the bytecode is checked in, so that the example needs no compiler.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import solc from 'solc';

const input = {
  language: 'Solidity',
  sources: { 'Desk.sol': { content: readFileSync(new URL('Desk.sol', import.meta.url), 'utf8') } },
  settings: {
    evmVersion: 'paris',
    optimizer: { enabled: true },
    metadata: { appendCBOR: false },
    outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
  },
};
const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)));
const worst = errors.filter(({ severity }) => severity === 'error');
if (worst.length > 0) throw new Error(worst.map(({ formattedMessage }) => formattedMessage).join('\n'));

const bytecode = Object.entries(contracts['Desk.sol']).map(([name, { evm }]) => [
  name,
  `0x${evm.bytecode.object}`,
]);
const json = `${JSON.stringify(Object.fromEntries(bytecode), null, 2)}\n`;
if (process.argv.includes('--print')) process.stdout.write(json);
else writeFileSync(new URL('Desk.json', import.meta.url), json);
