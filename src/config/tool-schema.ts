import { z } from 'zod';
import { isWebUrl } from './settings.js';
import { list, table, text } from './shapes.js';
import { address, chainId, fee } from './wallet-schema.js';

const filled = text(/\S/, 'must be text that is not blank');
const webUrl = z
  .string({ error: 'must be an http or https URL' })
  .refine(isWebUrl, 'must be an http or https URL');
const seconds = z.number({ error: 'must be a number of seconds' }).positive('must be more than 0');
/** The longest timeout of a call, in seconds: timers take at most 2^31 - 1 ms. */
const MAX_TIMEOUT = 2_147_483;
const names = z.record(z.string(), z.string({ error: 'must be text' }), { error: 'must map names to text' });

const DECIMALS = 'must be a whole number from 0 to 77';

const chain = table({
  id: chainId,
  name: filled,
  rpcUrls: list(webUrl).min(1, 'must have at least one URL'),
  symbol: filled.optional(),
  decimals: z.int({ error: DECIMALS }).min(0, DECIMALS).max(77, DECIMALS).optional(),
  tokens: list(table({ symbol: filled, address })).optional(),
  ens: table({ universalResolver: address }).nullable().optional(),
  fee: fee.nullish(),
});

const prices = table({
  cacheSeconds: seconds.optional(),
  feeds: list(table({ symbol: filled, chainId, address, heartbeat: seconds.optional() })).optional(),
  http: table({
    baseUrl: webUrl,
    apiKey: filled.optional(),
    ids: names.optional(),
    currency: filled.optional(),
  }).optional(),
});

const SIDE_EFFECTS = ['none', 'idempotent', 'yes'] as const;

const server = table({
  name: filled,
  command: filled.optional(),
  args: list(z.string({ error: 'must be text' })).optional(),
  env: names.optional(),
  cwd: filled.optional(),
  url: filled.optional(),
  headers: names.optional(),
  timeout: seconds.max(MAX_TIMEOUT, `must be at most ${String(MAX_TIMEOUT)}`).optional(),
  sideEffects: z.enum(SIDE_EFFECTS, { error: `must be one of ${SIDE_EFFECTS.join(', ')}` }).optional(),
}).refine(({ command, url }) => (command === undefined) !== (url === undefined), {
  error: 'must have either a command (stdio) or a url (streamable HTTP)',
});

/** The schema of the tool sections of the configuration file. */
export const toolFileShape = {
  tools: z
    .union([filled, list(filled)], { error: 'must be a pattern of files, or a list of them' })
    .nullish(),
  chains: list(chain).nullish(),
  prices: prices.nullish(),
  mcp: list(server).nullish(),
  allowHosts: list(filled).nullish(),
};

/** The tool sections of the configuration file. */
export type FileTools = z.output<z.ZodObject<typeof toolFileShape>>;
