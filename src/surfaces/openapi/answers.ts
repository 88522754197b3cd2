import type { Header, MediaType, Reference, Response, Schema } from './document.js';
import { integer, text } from './schemas.js';

const JSON_TYPE = 'application/json';

/** Headers by the names that answers refer to. */
export const headers = {
  'X-Request-Id': {
    description: "The caller's own, if it is sane, else a new one. The log has it.",
    required: true,
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
  'RateLimit-Policy': {
    description: 'The limit per address and its window, as `6000;w=60`.',
    schema: text(),
  },
  'RateLimit-Limit': { description: 'Requests in a window.', schema: integer(0) },
  'RateLimit-Remaining': { description: 'Requests left in this window.', schema: integer(0) },
  'RateLimit-Reset': { description: 'Seconds until the next window.', schema: integer(0) },
  'Retry-After': {
    description: 'Seconds after which a repeat may succeed.',
    required: true,
    schema: integer(0),
  },
  Allow: {
    description: 'The methods that the path has.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
  },
} as const satisfies Record<string, Header>;

/** What every answer may have. */
const COMMON = [
  'X-Request-Id',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const;

type NamedHeader = keyof typeof headers;

/** An answer and its headers. */
export function answer(
  description: string,
  options: {
    readonly content?: Readonly<Record<string, MediaType>>;
    readonly headers?: Readonly<Record<string, Header | Reference>>;
  } = {},
): Response {
  return { description, ...options, headers: { ...refer(COMMON), ...options.headers } };
}

/** A JSON answer. */
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

/** References to shared headers. */
export function refer(names: readonly NamedHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** A stream of Server-Sent Events. */
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
  return answer(`${description} The events in it are those of the schema \`${events}\`.`, {
    content: { 'text/event-stream': media },
    ...(event.headers && { headers: event.headers }),
  });
}
