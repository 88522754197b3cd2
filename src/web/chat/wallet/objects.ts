/** True for an object that is not an array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a text field of an object; empty if it is not text. */
export function textField(value: object, name: string): string {
  const field: unknown = Reflect.get(value, name);
  return typeof field === 'string' ? field : '';
}
