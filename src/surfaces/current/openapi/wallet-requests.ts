import { json } from '../../openapi/answers.js';
import type { Paths, Schema } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { credentials, fields, jsonBody, query } from '../../openapi/requests.js';
import { list, named, record, text, WALLET_EXAMPLE } from '../../openapi/schemas.js';

const tags = ['Wallets'];
const message: Schema = {
  type: 'string',
  minLength: 1,
  description: 'Text, or the JSON of a report. At most 64 KiB of UTF-8.',
};
const chainId: Schema = {
  type: ['integer', 'string', 'null'],
  minimum: 1,
  pattern: '^(\\d{1,16}|0[xX][0-9a-fA-F]{1,14})$',
};
const address: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'An address, a name, or the symbol of a configured token.',
};

const transaction = fields(
  {
    to: address,
    value: {
      type: ['string', 'integer', 'null'],
      pattern: '^(\\d{1,78}|0[xX][0-9a-fA-F]{1,64})$',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'In wei, at most 256 bits. Absent: 0.',
    },
    data: {
      type: ['string', 'null'],
      pattern: '^0[xX]([0-9a-fA-F]{2})*$',
      maxLength: 262_146,
      description: 'The calldata. Absent: none.',
    },
    label: { type: ['string', 'null'], maxLength: 200, description: 'Words for the step.' },
    chain_id: { ...chainId, description: 'Must be the chain of the whole batch.' },
  },
  ['to'],
);

export const walletRequestPaths: Paths = {
  '/api/system': {
    post: {
      operationId: 'reportSystem',
      summary: 'Report what happened outside the conversation',
      description: `The message is text, or JSON \`{type, payload}\`:

- \`wallet:state_changed\` \`{address, chain_id, is_connected}\` (or \`chainId\`, \`isConnected\`) is merged into the user state.
- \`wallet:tx_complete\` \`{status: "success" or "failed", txHash, error, pending_tx_ids}\` is the outcome of transactions that a wallet was asked for.
- \`wallet_eip712_response\` \`{status, signature, error, pending_eip712_id}\` is the outcome of a signature request.
- Anything else is stored as a \`system\` message; text in the form of the service's own words about wallet requests is a 400.

An outcome removes its requests from the user state and starts a turn in which the assistant learns it: \`is_processing\` is true before this
response. The service verifies the outcome itself. Unknown, repeated and foreign ids change nothing. The response waits for no model and no chain.`,
      tags,
      security: credentials('required', 'none'),
      parameters: [
        query('message', 'The message.', {
          required: true,
          schema: message,
          example:
            '{"type":"wallet:tx_complete","payload":{"status":"failed","error":"User rejected","pending_tx_ids":[1]}}',
        }),
      ],
      requestBody: jsonBody(fields({ message }), {
        required: false,
        description: 'The same field, used if the query lacks it.',
      }),
      responses: {
        200: json('The system message.', named('SystemMessage'), {
          example: {
            res: {
              sender: 'system',
              content:
                'The wallet reported request 1 (Send 0.01 ETH) as rejected: nothing was signed. The wallet\'s words: "User rejected".',
              timestamp: '2026-11-20T12:03:57.832Z',
              is_streaming: false,
              tool_result: null,
            },
          },
        }),
        ...refusals('TooLarge'),
      },
    },
  },
  '/api/simulate': {
    post: {
      operationId: 'simulate',
      summary: 'Simulate a batch of transactions',
      description:
        'Runs the transactions in order on top of the latest block of a configured chain, and sends nothing. With `stateful: true` each transaction saw the effects of those before it; otherwise each ran alone.',
      tags,
      security: credentials('required', 'none'),
      requestBody: jsonBody(
        fields(
          {
            transactions: { ...list(transaction), minItems: 1, maxItems: 32 },
            from: { ...address, type: ['string', 'null'], description: 'Absent: the wallet of the session.' },
            chain_id: {
              ...chainId,
              description:
                'Absent: the chain of the transactions, that of the user state, or the first configured one.',
            },
          },
          ['transactions'],
        ),
        {
          required: true,
          example: {
            transactions: [{ to: WALLET_EXAMPLE, value: '10000000000000000', label: 'Send 0.01 ETH' }],
            chain_id: 1,
          },
        },
      ),
      responses: {
        200: json('The effects.', named('SimulationResult'), {
          example: {
            result: {
              batch_success: true,
              stateful: true,
              from: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
              network: 'Ethereum',
              total_gas: 21000,
              fee: {
                recipient: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
                amount_wei: '1',
                token: 'native',
              },
              steps: [
                {
                  step: 1,
                  label: 'Send 0.01 ETH',
                  success: true,
                  result: '0x',
                  gas_used: 21000,
                  tx: {
                    to: WALLET_EXAMPLE,
                    value_wei: '10000000000000000',
                    value_eth: '0.01',
                    data: '0x',
                  },
                },
              ],
            },
          },
        }),
        ...refusals('TooLarge'),
      },
    },
  },
};

const wei: Schema = { type: 'string', pattern: '^\\d+$', description: 'In wei.' };
const gas: Schema = { type: 'integer', minimum: 0, description: 'Absent if it is not known.' };
const hex: Schema = { type: 'string', pattern: '^0x[0-9a-f]*$' };

/** The schemas that only wallet requests use. */
export const walletRequestSchemas: Readonly<Record<string, Schema>> = {
  SystemMessage: record({ res: named('Message') }),
  SimulationStep: record(
    {
      step: { type: 'integer', minimum: 1 },
      label: text(),
      success: { type: 'boolean' },
      result: { ...hex, description: 'The return data, cut where it is long.' },
      revert_reason: text('Why it fails, if that is known.'),
      gas_used: gas,
      tx: record({
        to: hex,
        value_wei: wei,
        value_eth: { type: 'string', pattern: '^\\d+(\\.\\d+)?$', description: 'In the native currency.' },
        data: hex,
      }),
    },
    { optional: ['result', 'revert_reason', 'gas_used'] },
  ),
  SimulationResult: record({
    result: record(
      {
        batch_success: { type: 'boolean', description: 'True when every step succeeds.' },
        stateful: { type: 'boolean', description: 'True when each step saw the effects of those before it.' },
        from: hex,
        network: text('The name of the chain.'),
        total_gas: gas,
        fee: {
          ...record({ recipient: hex, amount_wei: wei, token: { const: 'native' } }),
          description: 'The fee that a client adds to the batch. Absent if none is configured.',
        },
        steps: list(named('SimulationStep')),
      },
      { optional: ['total_gas', 'fee'] },
    ),
  }),
  InlineCallEntry: record({
    InlineCall: {
      description: 'Asks the client’s wallet to sign.',
      oneOf: [
        record({
          type: { const: 'wallet_tx_request' },
          payload: record({
            tx_ids: list({ type: 'integer', minimum: 1 }, 'The ids of the pending transactions, in order.'),
            aa_preference: { const: 'none' },
          }),
        }),
        record({
          type: { const: 'wallet_eip712_request' },
          payload: record(
            {
              typed_data: {
                type: ['object', 'null'],
                description: 'EIP-712 typed data; null for a text message.',
              },
              description: text('What is signed, in words.'),
              pending_eip712_id: { type: 'integer', minimum: 1 },
              message: text('The text to sign (EIP-191), if there is no typed data.'),
            },
            { optional: ['message'] },
          ),
        }),
      ],
    },
  }),
};

const byId = (value: Schema, description: string): Schema => ({
  type: ['object', 'null'],
  description,
  additionalProperties: value,
});
const transactions = byId(
  record(
    {
      to: hex,
      value: wei,
      data: hex,
      chain_id: { type: 'integer', minimum: 1 },
      from: hex,
      gas: { ...wei, description: 'A gas limit that sufficed at the staging.' },
      label: text(),
      kind: { const: 'native_transfer', description: 'Present for a transfer without calldata.' },
    },
    { optional: ['from', 'gas', 'kind'] },
  ),
  'The transactions that the wallet is asked to sign, by id. Set by the service; ignored in requests.',
);
const signatures = byId(
  record(
    {
      typed_data: { type: ['object', 'null'], description: 'EIP-712 typed data; null for a text message.' },
      description: text(),
      chain_id: { type: 'integer', minimum: 1 },
      from: hex,
      message: text('The text to sign (EIP-191), if there is no typed data.'),
    },
    { optional: ['message'] },
  ),
  'The messages that the wallet is asked to sign, by id. Set by the service; ignored in requests.',
);

/** The properties of the user state that show what the wallet is asked to sign. */
export const pendingRequests: Readonly<Record<string, Schema>> = {
  pending_txs: transactions,
  pending_eip712s: signatures,
  pending: {
    type: ['object', 'null'],
    description: 'The same entries, nested.',
    properties: { evm_txs: transactions, evm_sigs: signatures },
  },
};
