import { z } from 'zod';
import { REASONING_EFFORTS } from '../core/rigs/rig-options.js';
import { RIG_ID } from './crosscheck.js';
import { isWebUrl } from './settings.js';
import { table, text } from './shapes.js';

const filledText = text(/\S/, 'must be text that is not blank');

export const rigId = text(RIG_ID, 'must have 1 to 128 printable characters, no blanks, no commas');

/** A whole number of tokens, of at least `min`. */
function tokens(min: number) {
  const right = `must be a whole number of tokens, ${String(min)} or more`;
  return z.preprocess(
    (value) => (isText(value, /^\d{1,12}$/) ? Number(value) : value),
    z.int({ error: right }).min(min, right),
  );
}

const TEMPERATURES = 'must be a number from 0 to 2';
const temperature = z.preprocess(
  (value) => (isText(value, /^\d(?:\.\d+)?$/) ? Number(value) : value),
  z.number({ error: TEMPERATURES }).min(0, TEMPERATURES).max(2, TEMPERATURES),
);

/** Headers that the service or the connection sets. `apiKey` sets those of the provider's key. */
const TAKEN = new Set([
  ...['accept', 'authorization', 'x-api-key', 'x-goog-api-key', 'content-type', 'content-length', 'host'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
]);

const headers = z.record(
  text(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'must be the name of a header').refine(
    (name) => !TAKEN.has(name.toLowerCase()),
    'is a header that the service sets itself; the key belongs in apiKey',
  ),
  text(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII text'),
  {
    error: (issue) =>
      (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ??
      'must map names of headers to text',
  },
);

const PROVIDERS = ['openai-compatible', 'openai', 'anthropic', 'google', 'demo'] as const;

/** A rig in the configuration file. */
export const rig = table({
  id: rigId,
  name: filledText.optional(),
  provider: z.enum(PROVIDERS, { error: `must be one of ${PROVIDERS.join(', ')}` }),
  model: filledText.optional(),
  baseUrl: z
    .string({ error: 'must be an http or https URL' })
    .refine(isWebUrl, 'must be an http or https URL')
    .optional(),
  apiKey: filledText.optional(),
  contextTokens: tokens(512).optional(),
  headers: headers.optional(),
  temperature: temperature.optional(),
  maxOutputTokens: tokens(1).optional(),
  tools: z.boolean({ error: 'must be true or false' }).optional(),
  reasoning: z
    .enum(REASONING_EFFORTS, { error: `must be one of ${REASONING_EFFORTS.join(', ')}` })
    .optional(),
});

/** A value from an environment variable is text. */
function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
