import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { anyObject, anyValue, type Tool, type ToolSource } from '../ports/tool.js';
import type { OutcomeVerification } from './outcome-verification.js';
import { SignatureRequests, type SignatureRequestParts } from './signature-requests.js';
import { Staging } from './staging.js';
import { WalletRequests, type WalletRequestParts } from './wallet-requests.js';

/** The names of the tools, which no other tool may have. */
export const WALLET_TOOLS = [
  'stage_transaction',
  'request_transactions',
  'request_signature',
  'list_wallet_requests',
] as const;

type WalletToolName = (typeof WALLET_TOOLS)[number];
type WalletTool = Omit<Tool, 'name' | 'timeoutMs' | 'needsWallet' | 'parameters'> & {
  readonly properties: JsonObject;
  readonly required: readonly string[];
};

const CHAIN_ID: JsonObject = {
  type: 'integer',
  minimum: 1,
  description: 'The chain. Absent: the one that the wallet is connected to.',
};
const ID: JsonObject = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

/** Creates the tools by which the assistant asks the person's wallet to sign. Empty when no chain is configured. */
export function createWalletTools(
  parts: WalletRequestParts & SignatureRequestParts,
  verification: OutcomeVerification,
): readonly Tool[] {
  if (parts.chains.list().length === 0) return [];
  const staging = new Staging(parts);
  const requests = new WalletRequests(parts, verification);
  const signatures = new SignatureRequests(parts, staging, requests);
  const tools: Record<WalletToolName, WalletTool> = {
    stage_transaction: {
      description:
        "Prepares a transaction for the person's wallet and simulates it. Sends nothing and asks nobody: call request_transactions with the returned id to ask the person to sign.",
      properties: {
        to: {
          ...{ type: 'string', minLength: 1, maxLength: 255 },
          description: 'The recipient or the contract: an address, an ENS name, or the symbol of a token.',
        },
        value: {
          ...{ type: 'string', minLength: 1, maxLength: 200 },
          description:
            'The amount of the native currency, as a decimal string such as "0.01", or in wei, such as "123 wei". Absent: none.',
        },
        data: {
          ...{ type: 'string', pattern: '^0x([0-9a-fA-F]{2})*$', maxLength: 131_072 },
          description: 'The calldata in hex. Give either data, or function with args.',
        },
        function: {
          ...{ type: 'string', minLength: 1, maxLength: 2_000 },
          description:
            'The signature of the function to call, such as "function transfer(address to, uint256 amount)".',
        },
        args: {
          ...{ type: 'array', items: anyValue(3), maxItems: 50 },
          description: 'The arguments of the function, in order.',
        },
        chain_id: CHAIN_ID,
        label: {
          ...{ type: 'string', maxLength: 500 },
          description: 'What the transaction does, in a few words that the person reads.',
        },
        after: {
          ...{ type: 'array', items: ID, maxItems: 15 },
          description: 'The ids of staged transactions that must come before this one, such as an approval.',
        },
      },
      required: ['to'],
      sideEffects: 'idempotent',
      run: (args, context) =>
        staging.stage(
          {
            to: textOf(args.to) ?? '',
            value: textOf(args.value),
            data: textOf(args.data),
            function: textOf(args.function),
            args: Array.isArray(args.args) ? args.args : [],
            chainId: numberOf(args.chain_id),
            label: textOf(args.label),
            after: idsOf(args.after),
          },
          context,
        ),
    },
    request_transactions: {
      description:
        "Asks the person's wallet to sign staged transactions, in the given order. Takes ids alone. Returns at once: the outcome comes in a later turn.",
      properties: {
        ids: {
          ...{ type: 'array', items: ID, minItems: 1, maxItems: 16, uniqueItems: true },
          description: 'The ids that stage_transaction has returned.',
        },
      },
      required: ['ids'],
      sideEffects: 'idempotent',
      run: (args, context) => requests.requestTransactions(idsOf(args.ids), context),
    },
    request_signature: {
      description:
        "Asks the person's wallet to sign a message: EIP-712 typed data, or a text (EIP-191). Returns at once: the outcome comes in a later turn.",
      properties: {
        typed_data: {
          type: 'object',
          // Domains and messages hold hashes: a salt, an order's data, an item of a list.
          properties: {
            ...{ types: { type: 'object' }, primaryType: { type: 'string' } },
            ...{ domain: anyObject(0), message: anyObject(2) },
          },
          description: 'EIP-712: types, primaryType, domain and message. Give either typed_data or text.',
        },
        text: { type: 'string', minLength: 1, maxLength: 16_384, description: 'The text to sign.' },
        description: {
          ...{ type: 'string', minLength: 1, maxLength: 500 },
          description: 'What the signature is for, in a few words that the person reads.',
        },
        chain_id: CHAIN_ID,
      },
      required: ['description'],
      sideEffects: 'idempotent',
      run: (args, context) =>
        signatures.request(
          {
            typedData: isJsonObject(args.typed_data) ? args.typed_data : undefined,
            text: textOf(args.text),
            description: textOf(args.description) ?? '',
            chainId: numberOf(args.chain_id),
          },
          context,
        ),
    },
    list_wallet_requests: {
      description:
        'Lists the latest transactions and messages that the wallet was asked to sign, and what has become of them.',
      properties: {},
      required: [],
      sideEffects: 'idempotent',
      run: (_, context) => requests.list(context),
    },
  };
  return WALLET_TOOLS.map((name) => {
    const { properties, required, ...tool } = tools[name];
    const parameters = { type: 'object', properties, required, additionalProperties: false };
    return { name, ...tool, parameters, timeoutMs: null, needsWallet: true };
  });
}

/** Adds the tools to a source whose list may change. */
export function withWalletTools(source: ToolSource, tools: readonly Tool[]): ToolSource {
  let listed: readonly Tool[] | undefined;
  let all: readonly Tool[] = [];
  return {
    list() {
      const others = source.list();
      if (others !== listed) {
        listed = others;
        all = tools.length === 0 ? others : [...others, ...tools];
      }
      return all;
    },
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function idsOf(value: JsonValue | undefined): readonly number[] {
  return Array.isArray(value) ? value.filter((id: JsonValue) => typeof id === 'number') : [];
}
