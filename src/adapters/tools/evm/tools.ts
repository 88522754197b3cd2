import type { JsonObject } from '../../../core/model/json.js';
import { anyValue, HASH_PATTERN, type Tool } from '../../../core/ports/tool.js';
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
    description: "Returns the balance of an address in a chain's native currency, such as ETH.",
    properties: { address: ADDRESS },
    load: async () => (await import('./lookups/balances.js')).getBalance,
  },
  {
    name: 'get_token_balance',
    description: 'Returns the balance of an address in an ERC-20 token.',
    properties: {
      token: account("The token: its contract's address, or the symbol of a known token such as USDC."),
      address: ADDRESS,
    },
    required: ['token'],
    load: async () => (await import('./lookups/balances.js')).getTokenBalance,
  },
  {
    name: 'get_transaction',
    description: 'Returns a transaction and its outcome: status, sender, receiver, value, fee, block.',
    properties: {
      hash: {
        type: 'string',
        description: "The transaction's hash: 0x and 64 hex digits.",
        pattern: HASH_PATTERN,
      },
    },
    required: ['hash'],
    load: async () => (await import('./lookups/transactions.js')).getTransaction,
  },
  {
    name: 'get_block',
    description: 'Returns a block: number, hash, time, number of transactions, gas, base fee.',
    properties: {
      block: {
        anyOf: [
          { type: 'string', pattern: HASH_PATTERN, description: 'A hash.' },
          {
            type: 'string',
            maxLength: 20,
            description: 'A number, or latest, safe, finalized, earliest, pending. Absent: latest.',
          },
        ],
      },
    },
    load: async () => (await import('./lookups/blocks.js')).getBlock,
  },
  {
    name: 'get_gas_price',
    description: 'Returns the current gas price on a chain, in gwei.',
    properties: {},
    load: async () => (await import('./lookups/blocks.js')).getGasPrice,
  },
  {
    name: 'resolve_name',
    description: 'Resolves an ENS name such as vitalik.eth to its address, or an address to its name.',
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
    description: 'Encodes a function call as transaction data. Sends nothing.',
    properties: { function: FUNCTION, args: ARGS },
    required: ['function'],
    load: async () => (await import('./lookups/calls.js')).encodeFunctionCall,
  },
  {
    name: 'simulate_call',
    description:
      'Simulates a transaction without sending it: returns whether it succeeds, its return value and gas, or why it fails.',
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
 * Creates the tools that read from EVM chains; none when no chain is configured. Each takes an optional `chain_id`,
 * which defaults to the session's chain, then to the first configured. The tools send no transactions and hold no keys.
 * Results are JSON objects with amounts in human units, and with potentially large integers as decimal strings. Neither
 * results nor errors contain the URL of a node.
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

function chainParameter({ chains }: EvmSettings): JsonObject {
  const known = chains.map(({ id, name }) => `${String(id)} (${name})`).join(', ');
  return { type: 'integer', description: `The chain: ${known}. Absent: the chain of the session.` };
}

/** Called on first use, because the client library is large. */
async function openRunner(settings: EvmSettings): Promise<Runner> {
  return (await import('./scope.js')).createRunner(settings);
}
