import type { JsonObject } from '../../../core/model/json.js';
import type { Tool } from '../../../core/ports/tool.js';
import { chooseChain } from './chains.js';
import type { Action, Runner } from './scope.js';
import type { EvmSettings } from './settings.js';

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required?: readonly string[];
  readonly load: () => Promise<Action>;
}

/** Asked for by a pattern: else 32 bytes in hex would be taken for a private key. */
const HASH = '^0x[0-9a-fA-F]{64}$';
const account = (description: string): JsonObject => ({ type: 'string', description, maxLength: 255 });
const ADDRESS = account('An address, or a name such as vitalik.eth. Absent: the wallet of the session.');
const CONTRACT = account('The contract: its address, its name, or the symbol of a known token.');
const FUNCTION: JsonObject = {
  type: 'string',
  description: 'The signature, such as "function balanceOf(address owner) view returns (uint256)".',
  maxLength: 1000,
};
const ARGS: JsonObject = {
  type: 'array',
  description:
    'The arguments in their order: large integers as decimal strings, bytes in hex, addresses may be names, tuples as lists or objects.',
  items: anyValue(3),
};

const DEFINITIONS: readonly Definition[] = [
  {
    name: 'get_balance',
    description: "Tells the balance of a chain's native currency, such as ETH, that an address has.",
    properties: { address: ADDRESS },
    load: async () => (await import('./lookups/balances.js')).getBalance,
  },
  {
    name: 'get_token_balance',
    description: 'Tells the balance of an ERC-20 token that an address has.',
    properties: {
      token: account("The token: its contract's address, or the symbol of a known one such as USDC."),
      address: ADDRESS,
    },
    required: ['token'],
    load: async () => (await import('./lookups/balances.js')).getTokenBalance,
  },
  {
    name: 'get_transaction',
    description:
      'Tells what a transaction is and what came of it: status, sender, receiver, value, fee, block.',
    properties: {
      hash: {
        type: 'string',
        description: "The transaction's hash: 0x and 64 hex digits.",
        pattern: HASH,
      },
    },
    required: ['hash'],
    load: async () => (await import('./lookups/transactions.js')).getTransaction,
  },
  {
    name: 'get_block',
    description: 'Tells about a block: number, hash, time, number of transactions, gas, base fee.',
    properties: {
      block: {
        type: 'string',
        description: 'A number, a hash, or latest, safe, finalized, earliest, pending. Absent: latest.',
        anyOf: [{ pattern: HASH }, { maxLength: 20 }],
      },
    },
    load: async () => (await import('./lookups/blocks.js')).getBlock,
  },
  {
    name: 'get_gas_price',
    description: 'Tells what gas costs now on a chain, in gwei.',
    properties: {},
    load: async () => (await import('./lookups/blocks.js')).getGasPrice,
  },
  {
    name: 'resolve_name',
    description:
      'Tells which address an ENS name such as vitalik.eth stands for, or which name an address has.',
    properties: { name: account('The name, or an address.') },
    required: ['name'],
    load: async () => (await import('./lookups/name-lookup.js')).resolveEnsName,
  },
  {
    name: 'call_view_function',
    description: 'Reads from a contract by calling one of its functions, without sending a transaction.',
    properties: { contract: CONTRACT, function: FUNCTION, args: ARGS },
    required: ['contract', 'function'],
    load: async () => (await import('./lookups/calls.js')).callViewFunction,
  },
  {
    name: 'encode_function_call',
    description: 'Encodes the call of a function as the data of a transaction. Sends nothing.',
    properties: { function: FUNCTION, args: ARGS },
    required: ['function'],
    load: async () => (await import('./lookups/calls.js')).encodeFunctionCall,
  },
  {
    name: 'simulate_call',
    description:
      'Tries what a transaction would do, without sending it: whether it succeeds, what it returns, the gas, or why it fails.',
    properties: {
      contract: account('The receiver: an address, a name, or the symbol of a known token.'),
      function: FUNCTION,
      args: ARGS,
      data: {
        type: 'string',
        description: 'Encoded data in hex, in place of function and args.',
        maxLength: 16384,
      },
      value_wei: {
        type: 'string',
        description: 'The value to send, in wei, as a decimal string. Absent: 0.',
      },
      from: account('The sender: an address or a name. Absent: the wallet of the session.'),
    },
    required: ['contract'],
    load: async () => (await import('./lookups/calls.js')).simulateCall,
  },
];

/**
 * The tools that read from EVM chains; none when no chain is configured. Each takes an optional `chain_id`: absent, the
 * session's chain, else the first configured. They change nothing and hold no key. Results are JSON objects with
 * integers that may be large as decimal strings, beside amounts in human units; errors are in words, and no URL of a
 * node is in either.
 */
export function evmTools(settings: EvmSettings): readonly Tool[] {
  const { chains } = settings;
  if (chains.length === 0) return [];
  let opening: Promise<Runner> | undefined;

  return DEFINITIONS.map(({ name, description, properties, required = [], load }) => ({
    name,
    description,
    parameters: {
      type: 'object',
      properties: { ...properties, chain_id: chainParameter(settings) },
      required,
      additionalProperties: false,
    },
    sideEffects: 'none',
    timeoutMs: null,
    async run(args, context) {
      const chain = chooseChain(chains, args.chain_id, context.userState);
      opening ??= openRunner(settings);
      const [run, action] = await Promise.all([opening, load()]);
      return run(action, args, chain, context);
    },
  }));
}

/** Any JSON value: what fits is known from a signature only. Some providers refuse a schema that says nothing. */
function anyValue(depth: number): JsonObject {
  const plain = ['string', 'number', 'boolean', 'object'].map((type) => ({ type }));
  const kinds: readonly JsonObject[] = [...plain, { type: 'string', pattern: HASH }];
  return { anyOf: depth === 0 ? kinds : [...kinds, { type: 'array', items: anyValue(depth - 1) }] };
}

function chainParameter({ chains }: EvmSettings): JsonObject {
  const known = chains.map(({ id, name }) => `${String(id)} (${name})`).join(', ');
  return { type: 'integer', description: `The chain: ${known}. Absent: the chain of the session.` };
}

/** On first use: the client library is large. */
async function openRunner(settings: EvmSettings): Promise<Runner> {
  return (await import('./scope.js')).createRunner(settings);
}
