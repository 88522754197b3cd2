import { json } from '../../openapi/answers.js';
import type { Paths } from '../../openapi/document.js';
import { refusals } from '../../openapi/refusals.js';
import { fields, jsonBody } from '../../openapi/requests.js';
import { named, text, WALLET_EXAMPLE } from '../../openapi/schemas.js';

const tags = ['Wallets'];
const asked = 'Available only if the service requires proofs of wallet ownership, otherwise a 404.';

export const walletPaths: Paths = {
  '/api/wallet/nonce': {
    get: {
      operationId: 'readNonce',
      summary: 'Get a nonce to sign',
      description: asked,
      tags,
      security: [{}],
      responses: {
        200: json('A nonce, valid for one use.', named('Nonce'), {
          example: { nonce: 'eb1bc4c8df38d466', expires_at: '2026-11-20T12:13:57.832Z' },
        }),
        ...refusals('NotFound'),
      },
    },
  },
  '/api/wallet/proof': {
    post: {
      operationId: 'proveWallet',
      summary: 'Sign a wallet in (EIP-4361)',
      description: `${asked} Send the returned proof as \`X-Wallet-Proof\` with later requests.`,
      tags,
      security: [{}],
      requestBody: jsonBody(
        fields(
          {
            message: text(
              'The signed sign-in message. Its address must have a checksum (EIP-55), and its URI must be on its domain.',
            ),
            signature: text('The signature of the message, in hex.'),
          },
          ['message', 'signature'],
        ),
        { required: true },
      ),
      responses: {
        200: json('The wallet has signed in.', named('WalletProof'), {
          example: {
            proof: 'eb1bc4c8df38d466Zk3q…',
            public_key: WALLET_EXAMPLE,
            expires_at: '2026-11-21T12:03:57.832Z',
          },
        }),
        ...refusals('Unauthenticated', 'NotFound', 'TooLarge'),
      },
    },
  },
};
