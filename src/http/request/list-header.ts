/** Maximum length of a header that is read as a list, in characters. */
const MAX_LENGTH = 8192;

/**
 * Returns a header that is a list (RFC 9110 §5.6.1), such as `Accept`. A longer list than any client needs counts as
 * absent, so that no request is slow to parse.
 */
export function listHeader(header: string | undefined): string | undefined {
  return header === undefined || header.length > MAX_LENGTH ? undefined : header;
}

/** Matches the text between separators, which mean nothing within quotes. The last quote may be missing. */
function elements(separator: string): RegExp {
  return new RegExp(String.raw`(?:[^"${separator}]|"(?:[^"\\]|\\.)*"?)+`, 'gs');
}

const ELEMENTS = { ',': elements(','), ';': elements(';') };

/** Splits a header at a separator, but not within quoted strings (RFC 9110 §5.6.4). Omits empty elements. */
export function splitHeader(header: string, separator: keyof typeof ELEMENTS): readonly string[] {
  return header.match(ELEMENTS[separator]) ?? [];
}
