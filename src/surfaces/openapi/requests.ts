import type { Operation, Parameter, Requirement, Schema } from './document.js';
import { integer } from './schemas.js';

/** A parameter in the query. */
export function query(
  name: string,
  description: string,
  options: { readonly required?: boolean; readonly schema?: Schema; readonly example?: unknown } = {},
): Parameter {
  const { required = false, schema = { type: 'string' }, ...rest } = options;
  return { name, in: 'query', required, description, schema, ...rest };
}

/** A parameter in the path. */
export function inPath(name: string, description: string, schema: Schema): Parameter {
  return { name, in: 'path', required: true, description, schema };
}

/** A header that may be absent. */
export function header(name: string, description: string, schema: Schema, example?: unknown): Parameter {
  const shown = example === undefined ? {} : { example };
  return { name, in: 'header', required: false, description, schema, ...shown };
}

/** The `id` of a path under `/api/sessions`. */
export const sessionInPath = inPath('id', 'The UUID of the session, in any case.', {
  type: 'string',
  format: 'uuid',
});

/** The header of a message. */
export const idempotencyKey = header(
  'Idempotency-Key',
  'Makes a repeat within 24 hours safe: it starts no second turn. The same key with another message or App is a 422.',
  { type: 'string', minLength: 1, maxLength: 255 },
  '1f9d-order-17',
);

/** The header of whatever names a wallet. */
export const walletProof = header(
  'X-Wallet-Proof',
  'Where wallets have to sign in: what `POST /api/wallet/proof` of the current surface gave for this wallet.',
  { type: 'string' },
);

/** The two ways to say which event was the last one seen. */
export const eventCursor: readonly Parameter[] = [
  header(
    'Last-Event-ID',
    'The last event seen: what came after it is sent first. Wins over `since`.',
    integer(0),
  ),
  query('since', 'The same, for clients that can set no header.', { schema: integer(0) }),
];

/** A JSON body. */
export function jsonBody(
  schema: Schema,
  {
    required,
    description,
    example,
  }: { readonly required: boolean; readonly description?: string; readonly example?: unknown },
): NonNullable<Operation['requestBody']> {
  const shown = example === undefined ? {} : { example };
  return {
    required,
    ...(description === undefined ? {} : { description }),
    content: { 'application/json': { schema, ...shown } },
  };
}

/** An object in a request: unknown names in it are ignored. */
export function fields(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { type: 'object', properties, required };
}

type Need = 'required' | 'optional' | 'none';

/** The alternatives of an operation that takes a session's header and an App key. */
export function credentials(session: Need, appKey: Need): readonly Requirement[] {
  const sessions = alternatives('session', session);
  return alternatives('appKey', appKey).flatMap((key) => sessions.map((id) => ({ ...id, ...key })));
}

function alternatives(scheme: string, need: Need): readonly Requirement[] {
  const given = { [scheme]: [] };
  if (need === 'required') return [given];
  return need === 'optional' ? [given, {}] : [{}];
}

/** The security schemes: the session's header, and the App key in the header of the surface. */
export function securitySchemes(keyHeader: string): Readonly<Record<string, Schema>> {
  return {
    session: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Session-Id',
      description: 'The UUID of the session, made by the client. Whoever knows it has the session.',
    },
    appKey: {
      type: 'apiKey',
      in: 'header',
      name: keyHeader,
      description: 'The App key: needed for other Apps than `default`, and only there looked at.',
    },
  };
}
