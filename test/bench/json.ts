/** The fields of a JSON object. @throws Error when the text is not one */
export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error('not a JSON object');
  return { ...value };
}
