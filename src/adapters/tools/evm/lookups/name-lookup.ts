import { isAddress } from 'viem';
import { namedAccount } from './addresses.js';
import { ChainError } from '../chain-error.js';
import { chainFields } from '../chains.js';
import { primaryName, resolveName } from './names.js';
import type { Action } from '../scope.js';
import { shown } from '../words.js';

/** `{name}` → the address that a name resolves to; for an address, its primary name. */
export const resolveEnsName: Action = async (args, scope) => {
  const { chain } = scope;
  const text = typeof args.name === 'string' ? args.name.trim() : '';
  if (isAddress(text, { strict: false })) {
    const { address } = await namedAccount(scope, text);
    const name = await primaryName(scope, address);
    const words = name === null ? `${address} has no name.` : `${address} is ${name}.`;
    return { text: words, name, address, ...chainFields(chain) };
  }
  if (!text.includes('.')) throw new ChainError(`${shown(args.name)} is not a name such as vitalik.eth.`);
  const { address, record } = await resolveName(scope, text);
  return {
    text: `${text} is ${address} on ${record.name}.`,
    name: text,
    address,
    ...chainFields(chain),
    record_chain_id: record.id,
  };
};
