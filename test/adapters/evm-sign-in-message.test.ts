import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { createSiweMessage } from 'viem/siwe';
import { readSignInMessage } from '../../src/adapters/tools/evm/wallets/sign-in-message.js';
import '../support/property-seed.js';

const ADDRESS = '0x6Fb4F0c5d4a4e9F5bEe6A3bC3B4c4bE0a1dB2cD3';
const address = getAddress(ADDRESS.toLowerCase());

type Fields = Partial<Parameters<typeof createSiweMessage>[0]>;

function messageOf(fields: Fields = {}): string {
  return createSiweMessage({
    address,
    chainId: 1,
    domain: 'app.example.org',
    nonce: 'abcdefgh12345678',
    uri: 'https://app.example.org/login?next=%2F#top',
    version: '1',
    issuedAt: new Date(1_000),
    ...fields,
  });
}

/** The message with a line in the place of the one that begins with `name`. */
function withLine(name: string, line: string): string {
  return messageOf()
    .split('\n')
    .map((present) => (present.startsWith(name) ? line : present))
    .join('\n');
}

describe('a sign-in message', () => {
  it('is read', () => {
    expect(readSignInMessage(messageOf())).toEqual({
      ...{ domain: 'app.example.org', isOfSite: true, address, chainId: 1, nonce: 'abcdefgh12345678' },
      ...{ issuedAt: 1_000, notBefore: -Infinity, expiresAt: Infinity },
    });
  });

  it('is read with all that it may have', () => {
    const message = messageOf({
      ...{ scheme: 'https', statement: 'Sign in à bientôt', requestId: '7', chainId: 31_337 },
      ...{ notBefore: new Date(2_000), expirationTime: new Date(3_000) },
      resources: ['https://app.example.org/terms', 'ipfs://bafy'],
    });
    expect(readSignInMessage(message)).toMatchObject({ notBefore: 2_000, expiresAt: 3_000, chainId: 31_337 });
  });

  it('is read with one blank line in the place of a statement, as some wallets write it', () => {
    const message = messageOf().replace('\n\n\nURI', '\n\nURI');
    expect(message).not.toBe(messageOf());
    expect(readSignInMessage(message)).toBeDefined();
  });

  it.each([
    ['https', 'https://app.example.org', 'app.example.org'],
    ['https with a port', 'https://app.example.org:8443/', 'app.example.org:8443'],
    ['the port of https', 'https://app.example.org/', 'app.example.org:443'],
    ['http on this machine', 'http://localhost:3000/', 'localhost:3000'],
    ['http on a name of this machine', 'http://app.localhost', 'app.localhost'],
    ['http on 127.0.0.1', 'http://127.0.0.1:3000/', '127.0.0.1:3000'],
    ['http on ::1', 'http://[::1]:3000/', '[::1]:3000'],
    ['another case', 'https://APP.example.org/', 'App.Example.org'],
  ])('has a URI of its domain: %s', (_, uri, domain) => {
    // Written by hand, as the library knows fewer domains.
    const message = withLine('URI: ', `URI: ${uri}`).replace('app.example.org wants', `${domain} wants`);
    expect(readSignInMessage(message)).toMatchObject({ domain: domain.toLowerCase(), isOfSite: true });
  });

  it.each([
    ['nothing', ''],
    ['other text', 'Please sign this'],
    ['text before it', `Hello\n${messageOf()}`],
    ['text behind it', `${messageOf()}\nand more`],
    ['lines that end as on Windows', messageOf().replaceAll('\n', '\r\n')],
    ['another version', withLine('Version: ', 'Version: 2')],
    ['no version', messageOf().replace('Version: 1\n', '')],
    ['no nonce', messageOf().replace(/Nonce: .*\n/, '')],
    ['a short nonce', withLine('Nonce: ', 'Nonce: abcdef7')],
    ['a nonce with other characters', withLine('Nonce: ', 'Nonce: abcdefgh-1234567')],
    ['a field twice', messageOf().replace('Nonce: ', 'Nonce: abcdefgh12345679\nNonce: ')],
    ['fields in another order', messageOf().replace('Version: 1\nChain ID: 1', 'Chain ID: 1\nVersion: 1')],
    ['fields in the statement', messageOf({ statement: 'URI: https://app.example.org' })],
    ['too much text', messageOf({ statement: 'x'.repeat(10_000) })],
    ['a control character', messageOf().replace('\n\n\n', '\n\na\u0000b\n\n')],
    ['an address in lower case', messageOf().replace(address, address.toLowerCase())],
    ['an address with a wrong checksum', messageOf().replace(address, `0x${address.slice(2).toUpperCase()}`)],
    ['a chain that is none', withLine('Chain ID: ', 'Chain ID: 0')],
    ['a chain in hex', withLine('Chain ID: ', 'Chain ID: 0x1')],
    ['a chain beyond exact numbers', withLine('Chain ID: ', 'Chain ID: 9007199254740993')],
    ['a domain with a user', messageOf().replace('app.example.org wants', 'me@app.example.org wants')],
  ])('is not read from %s', (_, text) => {
    expect(readSignInMessage(text)).toBeUndefined();
  });

  it.each([
    ...['http://app.example.org', 'https://evil.example.org', 'https://app.example.org.evil.example.org'],
    ...['https://app.example.org@evil.example.org', 'https://me:pass@app.example.org', 'app.example.org'],
    ...['https://app.example.org:8443', 'https:\\\\app.example.org', 'ftp://app.example.org', 'about:blank'],
    ...[' https://app.example.org', 'https://app.example.org/\t', 'https://app.example.org/ä', ''],
  ])('has no URI of its domain in %j', (uri) => {
    expect(readSignInMessage(withLine('URI: ', `URI: ${uri}`))?.isOfSite).toBe(false);
  });

  it.each(['http', 'javascript', ''])('is of no site with the scheme %j', (scheme) => {
    expect(readSignInMessage(`${scheme}://${messageOf()}`)?.isOfSite).toBe(false);
  });

  it.each([
    ...['yesterday', '2026', '2026-01-01', '2026-01-01 00:00:00Z', '2026-01-01T00:00:00', '1767225600'],
    ...['2026-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-00T00:00:00Z', '2026-01-01T25:00:00Z', ''],
    ...['2026-01-01T00:00:00+25:00', '2026-01-01T00:00:00.Z', '+002026-01-01T00:00:00Z'],
  ])('is not read with the time %j', (time) => {
    const issued = withLine('Issued At: ', `Issued At: ${time}`);
    expect(readSignInMessage(issued)).toBeUndefined();
    for (const name of ['Expiration Time', 'Not Before']) {
      expect(readSignInMessage(`${messageOf()}\n${name}: ${time}`)).toBeUndefined();
    }
  });

  it.each([
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2026-01-01T01:00:00.5+01:00', Date.UTC(2026, 0, 1) + 500],
    ['2026-01-01t00:00:00z', Date.UTC(2026, 0, 1)],
  ])('is read with the time %s', (time, at) => {
    expect(readSignInMessage(withLine('Issued At: ', `Issued At: ${time}`))?.issuedAt).toBe(at);
  });

  it('is read as it was written, whatever its fields are', () => {
    const fields = fc.record({
      chainId: fc.integer({ min: 1 }),
      nonce: fc.stringMatching(/^[a-zA-Z0-9]{8,64}$/),
      statement: fc.stringMatching(/^[ -~]{1,80}$/).filter((text) => !text.startsWith('URI: ')),
      issuedAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(Date.UTC(9999, 0)) }),
      expirationTime: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(Date.UTC(9999, 0)) }),
    });
    fc.assert(
      fc.property(fields, (given) => {
        expect(readSignInMessage(messageOf(given))).toMatchObject({
          ...{ chainId: given.chainId, nonce: given.nonce },
          ...{ issuedAt: given.issuedAt.getTime(), expiresAt: given.expirationTime.getTime() },
        });
      }),
    );
  });

  it('is read or not, and never throws, whatever is changed in it', () => {
    const message = messageOf({ statement: 'Sign in', expirationTime: new Date(3_000) });
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('\n', '\n\n', '://', ': ', 'URI: ', '%', '\\', '[', '[::', '@', '\u202e', '\ud800'),
    );
    const change = fc.tuple(fc.nat(message.length), fc.nat(30), piece);
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        let text = message;
        for (const [at, cut, put] of changes) text = text.slice(0, at) + put + text.slice(at + cut);
        const read = readSignInMessage(text);
        if (read === undefined) return;
        expect(text.split('\n')).toContain(read.address);
        expect(text.toLowerCase()).toContain(`${read.domain} wants you`);
        expect(text).toContain(`\nNonce: ${read.nonce}\n`);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused by its length before it is looked at', () => {
    const pieces = ['a', '\n', '- ', '0x', 'https://', 'a.', '1', ' wants you to sign in', 'Resources:\n- a'];
    for (const piece of pieces) {
      expect(readSignInMessage(piece.repeat(2_000_000))).toBeUndefined();
      expect(readSignInMessage(messageOf().slice(0, 100) + piece.repeat(500))).toBeUndefined();
    }
  });
});
