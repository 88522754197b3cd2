import { z } from 'zod';

/** An object without other keys than these; the mistake names the others and the ones that there are. */
export function table<T extends z.core.$ZodLooseShape>(shape: T) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has unknown keys: ${issue.keys.join(', ')}; known are ${known}`
        : `must have the keys ${known}`,
  });
}

/** Text of a form. */
export function text(pattern: RegExp, right: string) {
  return z.string({ error: right }).regex(pattern, right);
}

/** A list of such items. */
export function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: 'must be a list' });
}
