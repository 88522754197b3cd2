import { optionalText } from '../../http/validation/params.js';

/** The `Idempotency-Key` header of both surfaces: a repeated key does not start a second turn. */
export const idempotencyKey = optionalText('headers', 'Idempotency-Key', (chain) =>
  chain.isLength({ min: 1, max: 255 }).withMessage('Idempotency-Key must have 1 to 255 characters'),
);
