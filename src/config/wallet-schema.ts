import { z } from 'zod';
import { list, table, text } from './shapes.js';

/** An Ethereum address, in any case. */
export const address = text(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits');

/** A chain id (EIP-155). */
export const chainId = z
  .int({ error: 'must be a chain id: a whole number' })
  .min(1, 'must be a chain id: 1 or more');

const AMOUNT = 'must be an amount such as 0.5, as text when it has many digits';
/** An amount of a currency as a decimal string. YAML reads one without quotes as a number. */
const amount = z
  .union([z.string(), z.number()], { error: AMOUNT })
  .transform(String)
  .refine((value) => /^\d{1,78}(?:\.\d{1,78})?$/.test(value), AMOUNT);

const WEI = 'must be a whole number of wei, 1 or more, as text when it is large';

/** What clients add to a batch of transactions on a chain. */
export const fee = table({
  recipient: address,
  amountWei: z
    .union([z.string(), z.int()], { error: WEI })
    .transform(String)
    .refine((value) => /^[1-9]\d{0,77}$/.test(value), WEI),
});

const policy = table({
  chains: list(chainId).min(1, 'must name at least one chain; leave it out to allow all').optional(),
  recipients: list(address).min(1, 'must name at least one recipient; leave it out to allow all').optional(),
  maxValue: amount.optional(),
  maxDailyValue: amount.optional(),
});

/** The wallet requests that an App may make: a policy, or `false` (read as null) for none. A blank counts as absent. */
export const wallet = z.preprocess(
  (value) => (value === false ? null : (value ?? undefined)),
  policy.nullable().optional(),
);
