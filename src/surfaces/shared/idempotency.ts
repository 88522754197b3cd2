import { optionalText } from '../../http/validation/params.js';

/** The `Idempotency-Key` header, which both surfaces take alike: a repeated key starts no second turn. */
export const idempotencyKey = optionalText('headers', 'Idempotency-Key', (chain) =>
  chain.isLength({ min: 1, max: 255 }).withMessage('Idempotency-Key must have 1 to 255 characters'),
);
