import { answer, json, refer } from './answers.js';
import type { Reference, Response, Schema } from './document.js';

/** An error response: its status, its meaning, and its `code` on the current surface. */
interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly codes: readonly string[];
  readonly headers?: Readonly<Record<string, Reference>>;
}

const REFUSALS = {
  Invalid: {
    status: 400,
    description: 'A parameter is missing or invalid, or the request is not valid HTTP.',
    codes: ['invalid'],
  },
  Unauthenticated: {
    status: 401,
    description: 'The App key, or a required proof of wallet ownership, is missing or invalid.',
    codes: ['unauthenticated'],
  },
  Forbidden: {
    status: 403,
    description:
      'The App key does not cover the App, the proof belongs to another wallet, or the origin of the page is not allowed.',
    codes: ['forbidden'],
  },
  NotFound: {
    status: 404,
    description: 'The session, message, tool, action or path does not exist.',
    codes: ['not_found'],
  },
  MethodNotAllowed: {
    status: 405,
    description: 'The path does not support this method. `Allow` lists the supported ones.',
    codes: ['method_not_allowed'],
    headers: refer(['Allow']),
  },
  TooLate: { status: 408, description: 'The request did not arrive in time.', codes: ['invalid'] },
  Busy: {
    status: 409,
    description: 'A turn is running, and the App does not queue messages. Nothing was stored.',
    codes: ['busy'],
  },
  Gone: {
    status: 410,
    description:
      'The message was accepted, or the branch created, but its thread was deleted before the response.',
    codes: ['gone'],
  },
  TooLarge: {
    status: 413,
    description: 'The body exceeds the size limit, or a storage limit is reached.',
    codes: ['payload_too_large', 'full'],
  },
  Misdirected: {
    status: 421,
    description: 'The service listens on a loopback address only, and `Host` names another host.',
    codes: ['misdirected'],
  },
  KeyReused: {
    status: 422,
    description: 'The `Idempotency-Key` was already used for another request.',
    codes: ['key_reused'],
  },
  TooMany: {
    status: 429,
    description: 'Too many requests, turns, tokens, queued messages or open streams.',
    codes: ['too_many', 'rate_limited'],
    headers: refer(['Retry-After']),
  },
  HeadersTooLarge: {
    status: 431,
    description: 'The request line and headers are larger than 1 MiB, or there are more than 999 headers.',
    codes: ['invalid'],
  },
  Internal: {
    status: 500,
    description: 'Internal error. The service log contains the cause under the `X-Request-Id`.',
    codes: ['internal'],
  },
  CodingNotSupported: {
    status: 501,
    description: 'The body has a `Transfer-Encoding` other than `chunked`.',
    codes: ['invalid'],
  },
  Unavailable: {
    status: 503,
    description: 'The service is restarting, or its store is unavailable.',
    codes: ['unavailable'],
    headers: refer(['Retry-After']),
  },
  VersionNotSupported: {
    status: 505,
    description: 'The HTTP version is not supported.',
    codes: ['invalid'],
  },
} as const satisfies Record<string, Refusal>;

/** The name of a shared error response. */
export type RefusalName = keyof typeof REFUSALS;

/**
 * Returns all error responses in the format of a surface, and the response to `OPTIONS`. The keys are the names that
 * `refusals` references.
 * @param except the responses that the surface never sends
 */
export function refusalAnswers(
  shape: (codes: readonly string[]) => Schema,
  except: readonly RefusalName[] = [],
): Record<string, Response> {
  const left = Object.entries<Refusal>(REFUSALS).filter(([name]) => !except.some((one) => one === name));
  const shown = left.map(([name, { description, codes, headers }]): [string, Response] => [
    name,
    json(description, shape(codes), headers === undefined ? {} : { headers }),
  ]);
  const options = answer('The methods of the path, in response to `OPTIONS`.', {
    headers: {
      Allow: { description: 'The supported methods. Absent on unknown paths.', schema: { type: 'string' } },
    },
  });
  return { Options: options, ...Object.fromEntries(shown) };
}

/** Returns the name of the shared response with this status. */
export function refusalWith(status: number): string | undefined {
  if (status === 204) return 'Options';
  return Object.entries<Refusal>(REFUSALS).find(([, refusal]) => refusal.status === status)?.[0];
}

/** Returns references to the error responses of every operation and to the given further ones. */
export function refusals(...names: readonly RefusalName[]): Record<string, Reference> {
  const all: readonly RefusalName[] = [
    ...(['Invalid', 'Forbidden'] as const),
    ...names,
    ...([
      'Misdirected',
      'TooMany',
      'HeadersTooLarge',
      'Internal',
      'CodingNotSupported',
      'Unavailable',
    ] as const),
  ];
  return Object.fromEntries(
    all.map((name) => [String(REFUSALS[name].status), { $ref: `#/components/responses/${name}` }]),
  );
}
