import {
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  hexToString,
  size,
  type Address,
  type Hex,
} from 'viem';
import { accountOf, contractOf, tokenAddress } from './addresses.js';
import { ChainError } from '../chain-error.js';
import { chainFields, decimalsOf, unitOf } from '../chains.js';
import { formatContractUnits } from '../abi/integers.js';
import { revertOf } from '../abi/reverts.js';
import type { Action, Scope } from '../scope.js';
import { shown, tamed } from '../words.js';

const MAX_SYMBOL = 32;

/** `{address?}` → the native balance at a block. */
export const getBalance: Action = async (args, scope) => {
  const { client, chain } = scope;
  const { address, name } = await accountOf(scope, args.address);
  const blockNumber = await client.getBlockNumber();
  const wei = await client.getBalance({ address, blockNumber });
  const balance = formatUnits(wei, decimalsOf(chain));
  const unit = unitOf(chain);
  return {
    text: `${name ?? address} has ${balance} ${unit} on ${chain.name}.`,
    balance,
    unit,
    wei: String(wei),
    address,
    ...(name !== undefined && { name }),
    ...chainFields(chain),
    block: Number(blockNumber),
  };
};

/** `{token, address?}` → the balance of an ERC-20 token at a block. */
export const getTokenBalance: Action = async (args, scope) => {
  const { client, chain } = scope;
  const token = await tokenOf(scope, args.token);
  const { address, name } = await accountOf(scope, args.address);
  const blockNumber = await client.getBlockNumber();
  const contract = { abi: erc20Abi, address: token, blockNumber } as const;
  try {
    const [raw, decimals, symbol] = await Promise.all([
      client.readContract({ ...contract, functionName: 'balanceOf', args: [address] }),
      client.readContract({ ...contract, functionName: 'decimals' }),
      symbolOf(scope, token, blockNumber),
    ]);
    const balance = formatContractUnits(raw, decimals);
    return {
      text: `${name ?? address} has ${balance} ${tokenWords(token, symbol)} on ${chain.name}.`,
      balance,
      unit: symbol.isConfigured ? symbol.text : 'tokens',
      ...(!symbol.isConfigured && symbol.text !== '' && { claimed_symbol: symbol.text }),
      raw: String(raw),
      decimals,
      token,
      address,
      ...(name !== undefined && { name }),
      ...chainFields(chain),
      block: Number(blockNumber),
    };
  } catch (error) {
    if (revertOf(error) === undefined) throw error;
    throw new ChainError(`There is no ERC-20 token at ${token} on ${chain.name}.`, { cause: error });
  }
};

async function tokenOf(scope: Scope, given: Parameters<typeof tokenAddress>[1]): Promise<Address> {
  const { chain } = scope;
  const isSymbol = typeof given === 'string' && !given.includes('.') && !/^\s*0x/i.test(given);
  if (isSymbol && tokenAddress(scope, given) === undefined) {
    if (given.trim().toLowerCase() === unitOf(chain).toLowerCase()) {
      throw new ChainError(`${unitOf(chain)} is the native currency of ${chain.name}: use get_balance.`);
    }
    const known = chain.tokens?.map(({ symbol }) => symbol).join(', ') ?? '';
    throw new ChainError(
      `The token ${shown(given)} is not configured on ${chain.name}. ` +
        (known === '' ? 'Give its address.' : `Give its address, or one of ${known}.`),
    );
  }
  return (await contractOf(scope, given)).address;
}

interface TokenSymbol {
  /** Empty: the contract has none. */
  readonly text: string;
  /** False: the contract's own word, sanitized. It may claim to be any token. */
  readonly isConfigured: boolean;
}

async function symbolOf({ client, chain }: Scope, token: Address, blockNumber: bigint): Promise<TokenSymbol> {
  const configured = chain.tokens?.find(({ address }) => address.toLowerCase() === token.toLowerCase());
  if (configured !== undefined) return { text: configured.symbol, isConfigured: true };
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' });
  const answer = await client.call({ to: token, data, blockNumber }).catch((error: unknown) => {
    if (revertOf(error) === undefined) throw error;
    return { data: undefined };
  });
  const text = tamed(answer.data === undefined ? '' : textOf(answer.data), MAX_SYMBOL);
  return { text, isConfigured: false };
}

function tokenWords(token: Address, { text, isConfigured }: TokenSymbol): string {
  if (isConfigured) return text;
  return text === '' ? `tokens of ${token}` : `tokens of ${token}, which calls itself ${shown(text)},`;
}

/** Decodes a string; some old tokens return 32 plain bytes instead of an ABI-encoded string. */
function textOf(data: Hex): string {
  if (size(data) === 32) return hexToString(data);
  try {
    return decodeFunctionResult({ abi: erc20Abi, functionName: 'symbol', data });
  } catch {
    return ''; // not a string
  }
}
