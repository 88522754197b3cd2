import type { Header, Paths, Reference, Response } from '../../openapi/document.js';

/** The response headers that announce the end of this surface, once the operator has set it. */
export const noticeHeaders = {
  Deprecation: {
    description: 'The time at which the surface was deprecated (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: {
    description: 'The time at which the surface will be switched off (RFC 8594).',
    schema: { type: 'string', pattern: ' GMT$' },
  },
  Link: {
    description: 'A page about the deprecation (`deprecation`), and the successor (`successor-version`).',
    schema: { type: 'string', pattern: 'rel="deprecation"' },
  },
} as const satisfies Record<string, Header>;

const REFERENCES = Object.fromEntries(
  Object.keys(noticeHeaders).map((name): [string, Reference] => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

type Answers = Readonly<Record<string, Response | Reference>>;

/** Adds the notice headers to every response of the paths. */
export function withNotice(paths: Paths): Paths {
  return Object.fromEntries(
    Object.entries(paths).map(([path, { servers, ...operations }]) => [
      path,
      {
        ...(servers && { servers }),
        ...Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            { ...operation, responses: noticed(operation.responses) },
          ]),
        ),
      },
    ]),
  );
}

/** Adds the notice headers to responses by name, except to references, whose targets have them. */
export function noticed<T extends Answers>(answers: T): T;
export function noticed(answers: Answers): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      '$ref' in answer ? answer : { ...answer, headers: { ...answer.headers, ...REFERENCES } },
    ]),
  );
}
