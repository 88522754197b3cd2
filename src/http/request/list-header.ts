/** Maximum length of a header that is read as a list, in characters. */
const MAX_LENGTH = 8192;

/**
 * Returns a header that is a list (RFC 9110 §5.6.1), such as `Accept`. A longer list than any client needs counts as
 * absent, so that no request is slow to parse.
 */
export function listHeader(header: string | undefined): string | undefined {
  return header === undefined || header.length > MAX_LENGTH ? undefined : header;
}
