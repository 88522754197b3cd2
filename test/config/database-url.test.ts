import { describe, expect, it } from '@jest/globals';
import { databaseUrl } from '../../src/config/network.js';

describe('a PostgreSQL URL', () => {
  it.each(['', '?sslmode=verify-full&sslrootcert=/ca.crt', '?sslmode=no-verify', '?channel_binding=require'])(
    'may have the parameters %j',
    (parameters) => {
      const url = `postgres://user:hunter2@db/diptych${parameters}`;
      expect(databaseUrl(url)).toEqual({ value: { kind: 'postgres', url } });
    },
  );

  // The driver ignores these, and connects without encryption or without the authority.
  it.each([
    '?sslmod=verify-full',
    '?SSLMODE=verify-full',
    '?tls=true',
    '?sslmode=verify-full&sslroot=/ca.crt',
  ])('is refused with the parameters %j', (parameters) => {
    const { wrong } = refusalOf(`postgres://user:hunter2@db/diptych${parameters}`);
    expect(wrong).toContain('has a parameter for TLS that does not exist; there are ssl, sslmode,');
  });

  it.each(['?sslmode=verify_full', '?sslmode=', '?sslmode=verify-full&sslmode=on'])(
    'is refused with %j, which is no mode',
    (parameters) => {
      const { wrong } = refusalOf(`postgres://user:hunter2@db/diptych${parameters}`);
      expect(wrong).toBe(
        'has an sslmode that does not exist; there are disable, prefer, require, verify-ca, verify-full, no-verify',
      );
    },
  );
});

function refusalOf(url: string): { readonly wrong: string } {
  const parsed = databaseUrl(url);
  if (!('wrong' in parsed)) throw new Error('it was accepted');
  return parsed;
}
