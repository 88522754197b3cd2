import { answer, json, refer } from './answers.js';
import type { Reference, Response, Schema } from './document.js';

/** An answer that refuses: its status, what it means, and the `code` that the current surface gives it. */
interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly codes: readonly string[];
  readonly headers?: Readonly<Record<string, Reference>>;
}

const REFUSALS = {
  Invalid: {
    status: 400,
    description: 'A parameter is missing or wrong, or the request is no valid HTTP.',
    codes: ['invalid'],
  },
  Unauthenticated: {
    status: 401,
    description: 'The App key, or the proof of a wallet where one is asked for, is missing or not valid.',
    codes: ['unauthenticated'],
  },
  Forbidden: {
    status: 403,
    description:
      'The App key does not cover the App, the proof is of another wallet, or a page of this origin may not call.',
    codes: ['forbidden'],
  },
  NotFound: {
    status: 404,
    description: 'There is no such session, message, tool, action or path.',
    codes: ['not_found'],
  },
  MethodNotAllowed: {
    status: 405,
    description: 'The path has other methods: see `Allow`.',
    codes: ['method_not_allowed'],
    headers: refer(['Allow']),
  },
  TooLate: { status: 408, description: 'The request did not arrive in time.', codes: ['invalid'] },
  Busy: {
    status: 409,
    description: 'The thread is busy and its App rejects meanwhile: nothing was stored.',
    codes: ['busy'],
  },
  Gone: {
    status: 410,
    description: 'The message was accepted, and its thread was deleted before the response.',
    codes: ['gone'],
  },
  TooLarge: {
    status: 413,
    description: 'The body is larger than is taken here, or what is kept has reached its bound.',
    codes: ['payload_too_large', 'full'],
  },
  Misdirected: {
    status: 421,
    description: 'The service listens on a loopback address, and `Host` names another host.',
    codes: ['misdirected'],
  },
  KeyReused: {
    status: 422,
    description: 'The `Idempotency-Key` belongs to another message.',
    codes: ['key_reused'],
  },
  TooMany: {
    status: 429,
    description: 'Too many requests, turns, tokens, waiting messages or open streams.',
    codes: ['too_many', 'rate_limited'],
    headers: refer(['Retry-After']),
  },
  HeadersTooLarge: {
    status: 431,
    description: 'Request line and headers are larger than 1 MiB.',
    codes: ['invalid'],
  },
  Internal: {
    status: 500,
    description: 'An error of the service: the log has the reason under the `X-Request-Id`.',
    codes: ['internal'],
  },
  Unavailable: {
    status: 503,
    description: 'The service is restarting, or its store does not answer.',
    codes: ['unavailable'],
    headers: refer(['Retry-After']),
  },
} as const satisfies Record<string, Refusal>;

/** A shared answer that refuses. */
export type RefusalName = keyof typeof REFUSALS;

/**
 * All of them in the shape of a surface, and what answers `OPTIONS`. Their keys are the names that `refusals` refers
 * to. `except`: those that the surface never gives.
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
  const options = answer('The methods of a path, to `OPTIONS`.', {
    headers: { Allow: { description: 'Absent on unknown paths.', schema: { type: 'string' } } },
  });
  return { Options: options, ...Object.fromEntries(shown) };
}

/** The name of the shared answer with this status. */
export function refusalWith(status: number): string | undefined {
  if (status === 204) return 'Options';
  return Object.entries<Refusal>(REFUSALS).find(([, refusal]) => refusal.status === status)?.[0];
}

/** What any operation may answer, and the further refusals of one. */
export function refusals(...names: readonly RefusalName[]): Record<string, Reference> {
  const all: readonly RefusalName[] = [
    ...(['Invalid', 'Forbidden'] as const),
    ...names,
    ...(['Misdirected', 'TooMany', 'Internal', 'Unavailable'] as const),
  ];
  return Object.fromEntries(
    all.map((name) => [String(REFUSALS[name].status), { $ref: `#/components/responses/${name}` }]),
  );
}
