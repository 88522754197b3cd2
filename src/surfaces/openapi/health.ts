import { answer, json, refer } from './answers.js';
import type { Paths, Schema } from './document.js';
import { refusals } from './refusals.js';
import { list, named, record, text } from './schemas.js';

/** What the readiness probe answers. */
export const health: Schema = record(
  {
    status: text('`ok`, or why messages are refused: `draining`, `store_unavailable`.'),
    version: text(),
    surfaces: list(text(), 'The surfaces that are exposed.'),
  },
  { description: 'Whether messages are taken.' },
);

const AT_ROOT = { servers: [{ url: '/', description: 'Not under a surface’s own base.' }] };

const others = refusals();

const probe: Paths[string] = {
  get: {
    operationId: 'readHealth',
    summary: 'Readiness',
    tags: ['Health'],
    security: [{}],
    responses: {
      ...others,
      200: json('Ready.', named('Health'), {
        example: { status: 'ok', version: '0.1.0', surfaces: ['current', 'legacy'] },
      }),
      503: json(
        'Not ready.',
        { anyOf: [named('Health'), named('Error')] },
        {
          example: { status: 'draining', version: '0.1.0', surfaces: ['current', 'legacy'] },
          headers: refer(['Retry-After']),
        },
      ),
    },
  },
};

const word: Paths[string] = {
  ...AT_ROOT,
  get: {
    operationId: 'readHealthWord',
    summary: 'Liveness in one word',
    tags: ['Health'],
    security: [{}],
    responses: {
      ...others,
      200: answer('The process answers, ready or not.', {
        content: { 'text/plain': { schema: { const: 'OK' }, example: 'OK' } },
      }),
    },
  },
};

/** The probes. @param options `ownBase`: whether the surface has one under its own base too */
export function healthPaths({ ownBase }: { readonly ownBase: boolean }): Paths {
  return { '/api/health': ownBase ? probe : { ...AT_ROOT, ...probe }, '/health': word };
}
