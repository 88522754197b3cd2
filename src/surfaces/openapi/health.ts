import { answer, json, refer } from './answers.js';
import type { Paths, Schema } from './document.js';
import { refusals } from './refusals.js';
import { list, named, record, text } from './schemas.js';

/** The response of the readiness probe. */
export const health: Schema = record(
  {
    status: text('`ok`, or the reason why messages are refused: `draining` or `store_unavailable`.'),
    version: text(),
    surfaces: list(text(), 'The exposed API surfaces.'),
  },
  { description: 'Whether the service accepts messages.' },
);

const AT_ROOT = { servers: [{ url: '/', description: 'The root, not the base of a surface.' }] };

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
    summary: 'Liveness',
    tags: ['Health'],
    security: [{}],
    responses: {
      ...others,
      200: answer('The process is running, whether ready or not.', {
        content: { 'text/plain': { schema: { const: 'OK' }, example: 'OK' } },
      }),
    },
  },
};

/**
 * The health probes.
 * @param options `ownBase`: true if the surface has its own readiness probe under its base
 */
export function healthPaths({ ownBase }: { readonly ownBase: boolean }): Paths {
  return { '/api/health': ownBase ? probe : { ...AT_ROOT, ...probe }, '/health': word };
}
