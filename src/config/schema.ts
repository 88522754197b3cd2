import { z } from 'zod';
import { pathText } from './file.js';
import type { Mistake } from './mistakes.js';
import { page, prompts } from './page-schema.js';
import { rig, rigId } from './rig-schema.js';
import { list, table, text } from './shapes.js';
import { toolFileShape } from './tool-schema.js';
import { wallet } from './wallet-schema.js';

const anyText = z.string({ error: 'must be text' });
const filledText = text(/\S/, 'must be text that is not blank');
const appName = text(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  'must have 1 to 64 letters, digits, dots, dashes or underscores and begin with a letter or a digit',
);
const toolName = text(
  /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_./-]{1,128})?$/,
  'must be a tool such as get_time, or one of a tool server such as server.tool',
);
const slotName = text(
  /^[A-Za-z_][A-Za-z0-9_]{0,63}$/,
  'must have 1 to 64 letters, digits or underscores and not begin with a digit',
);

const secret = table({
  name: slotName,
  description: anyText.optional(),
  required: z.boolean({ error: 'must be true or false' }).optional(),
});

const BUSY = ['enqueue', 'interrupt', 'reject'] as const;

const app = table({
  name: appName,
  instructions: anyText.optional(),
  rigs: list(rigId).min(1, 'must name at least one rig; leave it out to allow all').optional(),
  tools: list(toolName).optional(),
  mcp: list(filledText).optional(),
  secrets: list(secret).optional(),
  busyStrategy: z.enum(BUSY, { error: `must be one of ${BUSY.join(', ')}` }).optional(),
  wallet,
  prompts: prompts.optional(),
});

const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: 'must be text, a number, true or false',
});

const bound = z
  .int({ error: 'must be a whole number, 1 or more' })
  .min(1, 'must be a whole number, 1 or more')
  .optional();

const limits = table({ requestsPerMinute: bound, turnsPerDay: bound, tokensPerDay: bound });

const file = table({
  settings: z.record(z.string(), scalar, { error: 'must map names of variables to values' }).nullish(),
  rigs: list(rig).nullish(),
  apps: list(app).nullish(),
  ...toolFileShape,
  page,
  limits: table({ session: limits.optional(), key: limits.optional() }).nullish(),
});

/** The validated contents of a configuration file. */
export type FileContents = z.output<typeof file>;
/** A rig in the configuration file. */
export type FileRig = z.output<typeof rig>;
/** An App in the configuration file. */
export type FileApp = z.output<typeof app>;
/** Limits in the configuration file. */
export type FileLimits = z.output<typeof limits>;

/**
 * Validates a configuration file.
 * @param skip paths whose mistakes are reported elsewhere
 * @returns `contents` is undefined when the file does not match the schema
 */
export function checkFile(
  tree: unknown,
  fileName: string,
  skip: readonly (readonly PropertyKey[])[],
): { readonly contents: FileContents | undefined; readonly mistakes: readonly Mistake[] } {
  // An empty file parses to null.
  const parsed = file.safeParse(tree ?? {});
  if (parsed.success) return { contents: parsed.data, mistakes: [] };
  const skipped = new Set(skip.map(pathText));
  const mistakes = parsed.error.issues
    .map((issue) => ({ path: pathText(issue.path), what: issue.message }))
    .filter(({ path }) => !skipped.has(path))
    .map(({ path, what }) => ({ where: path === '' ? fileName : `${fileName}: ${path}`, what }));
  return { contents: undefined, mistakes };
}
