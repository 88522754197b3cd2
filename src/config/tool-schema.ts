import { z } from 'zod';
import { isWebUrl } from './settings.js';
import { list, table, text } from './shapes.js';

const filled = text(/\S/, 'must be text that is not blank');
const address = text(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits');
const webUrl = z
  .string({ error: 'must be an http or https URL' })
  .refine(isWebUrl, 'must be an http or https URL');
const seconds = z.number({ error: 'must be a number of seconds' }).positive('must be more than 0');
const chainId = z
  .int({ error: 'must be a chain id: a whole number' })
  .min(1, 'must be a chain id: 1 or more');
const names = z.record(z.string(), z.string({ error: 'must be text' }), { error: 'must map names to text' });

const chain = table({
  id: chainId,
  name: filled,
  rpcUrls: list(webUrl).min(1, 'must have at least one URL'),
  symbol: filled.optional(),
  decimals: z.int({ error: 'must be a whole number' }).min(0, 'must be 0 or more').optional(),
  tokens: list(table({ symbol: filled, address })).optional(),
  ens: table({ universalResolver: address }).nullable().optional(),
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
  timeout: seconds.optional(),
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
