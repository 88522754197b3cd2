import type { Header, Paths, Reference, Response } from '../../openapi/document.js';

/** What answers say of this surface's end, once the operator has set it. */
export const noticeHeaders = {
  Deprecation: {
    description: 'Since when the surface is deprecated (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: {
    description: 'When it will be switched off (RFC 8594).',
    schema: { type: 'string', pattern: ' GMT$' },
  },
  Link: {
    description: 'A page about it (`deprecation`), and what takes its place (`successor-version`).',
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

/** Paths whose every answer may say it. */
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

/** The same for answers by names. References lead to such answers. */
export function noticed<T extends Answers>(answers: T): T;
export function noticed(answers: Answers): Answers {
  return Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      '$ref' in answer ? answer : { ...answer, headers: { ...answer.headers, ...REFERENCES } },
    ]),
  );
}
