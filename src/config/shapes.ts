import { z } from 'zod';

/** An object with no keys other than these. The message for an unknown key lists the known ones. */
export function table<T extends z.core.$ZodLooseShape>(shape: T) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has unknown keys: ${issue.keys.join(', ')}; known are ${known}`
        : `must have the keys ${known}`,
  });
}

/** Text that matches a pattern; `right` describes valid text. */
export function text(pattern: RegExp, right: string) {
  return z.string({ error: right }).regex(pattern, right);
}

export function list<T extends z.ZodType>(item: T) {
  return z.array(item, { error: 'must be a list' });
}
