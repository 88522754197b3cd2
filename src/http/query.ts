import { parse, type ParsedUrlQuery } from 'node:querystring';
import { RefusedError } from '../core/refusal.js';

/**
 * The parameters of a query, each text or a list of texts.
 * @throws RefusedError `invalid` for what is not UTF-8 in percent-encoding (RFC 3986 §2.1): the parser would put other text in its place
 */
export function parseQuery(query: string | null): ParsedUrlQuery {
  if (query === null) return {};
  if (query.includes('%')) requireDecodable(query);
  return parse(query);
}

function requireDecodable(query: string): void {
  try {
    decodeURIComponent(query);
  } catch (cause) {
    const message = 'the query is not percent-encoded UTF-8';
    throw new RefusedError('invalid', message, [{ path: 'query', message }], undefined, { cause });
  }
}
