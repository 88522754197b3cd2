import type { JsonObject } from '../../core/model/json.js';
import type { RigChoice } from '../../core/model/rig-choice.js';
import { optionalText } from '../../http/validation/params.js';

/** `include=names`: the list has names, too. */
export const rigListInclude = optionalText('query', 'include', (chain) =>
  chain.matches(/^names(,names)*$/).withMessage('include must be: names'),
);

/** The ids of rigs, or objects with id and name if `include` asks for names. */
export function rigList(
  rigs: readonly RigChoice[],
  include: string | undefined,
): readonly string[] | readonly JsonObject[] {
  return include === undefined ? rigs.map(({ id }) => id) : rigs.map(({ id, name }) => ({ id, name }));
}
