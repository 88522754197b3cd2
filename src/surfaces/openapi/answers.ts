import type { Header, MediaType, Reference, Response, Schema } from './document.js';
import { integer, text } from './schemas.js';

const JSON_TYPE = 'application/json';

/** Shared response headers by name. */
export const headers = {
  'X-Request-Id': {
    description:
      "The client's `X-Request-Id` if it is well-formed, otherwise a new one. The service logs it.",
    required: true,
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
  'RateLimit-Policy': {
    description: 'The limit per client address and its window in seconds, such as `6000;w=60`.',
    schema: text(),
  },
  'RateLimit-Limit': { description: 'Requests per window.', schema: integer(0) },
  'RateLimit-Remaining': { description: 'Requests left in the current window.', schema: integer(0) },
  'RateLimit-Reset': { description: 'Seconds until the next window.', schema: integer(0) },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    required: true,
    schema: integer(0),
  },
  Allow: {
    description: 'The methods that the path supports.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
  },
} as const satisfies Record<string, Header>;

/** Headers that any response may have. */
const COMMON = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const;

type NamedHeader = keyof typeof headers;

/** Describes a response and its headers. */
export function answer(
  description: string,
  options: {
    readonly content?: Readonly<Record<string, MediaType>>;
    readonly headers?: Readonly<Record<string, Header | Reference>>;
  } = {},
): Response {
  return { description, ...options, headers: { ...refer(COMMON), ...options.headers } };
}

/** Describes a JSON response. */
export function json(
  description: string,
  schema: Schema,
  options: {
    readonly example?: unknown;
    readonly headers?: Readonly<Record<string, Header | Reference>>;
  } = {},
): Response {
  const { example, ...rest } = options;
  const shown = example === undefined ? {} : { example };
  return answer(description, { ...rest, content: { [JSON_TYPE]: { schema, ...shown } } });
}

/** Returns references to shared headers. */
export function refer(names: readonly NamedHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Describes a response that is a stream of Server-Sent Events. */
export function eventStream(
  description: string,
  event: {
    readonly schema: Reference;
    readonly ids: NonNullable<MediaType['x-event-ids']>;
    readonly example: string;
    readonly headers?: Readonly<Record<string, Header | Reference>>;
  },
): Response {
  const media: MediaType = {
    schema: { type: 'string', contentMediaType: 'text/event-stream' },
    example: event.example,
    'x-event-schema': event.schema,
    'x-event-ids': event.ids,
  };
  const events = event.schema.$ref.slice(event.schema.$ref.lastIndexOf('/') + 1);
  return answer(`${description} Its events follow the schema \`${events}\`.`, {
    content: { 'text/event-stream': media },
    ...(event.headers && { headers: event.headers }),
  });
}
