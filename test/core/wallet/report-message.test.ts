import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readReport } from '../../../src/core/wallet/report-message.js';
import { HASH } from '../../support/wallet-core.js';

const read = (type: unknown, payload?: unknown) => readReport(JSON.stringify({ type, payload }));
const NOTE = { kind: 'note' };
const NOTHING = { kind: 'nothing' };

describe('readReport', () => {
  it.each([
    'Hello',
    '',
    '{',
    '[]',
    'null',
    '"wallet:tx_complete"',
    '{"type":1}',
    '{"type":"other","payload":{}}',
    `{"type":"wallet:tx_complete","payload":${'['.repeat(60)}${']'.repeat(60)}}`,
    `{"type":${'['.repeat(30_000)}`,
  ])('takes %.40s as a note', (text) => {
    expect(readReport(text)).toEqual(NOTE);
  });

  it('reads the outcome of transactions', () => {
    const outcome = { kind: 'outcome', of: 'transaction', isMalformed: false };
    expect(
      read('wallet:tx_complete', { txHash: HASH, status: 'success', pending_tx_ids: [2, '1', 2] }),
    ).toEqual({
      ...{ ...outcome, ids: [2, 1] },
      claim: { status: 'success', proof: HASH, error: null },
    });
    const failed = { status: 'failed', error: 'User "denied"\n\u202eit', pending_tx_id: '7' };
    expect(read('wallet:tx_complete', failed)).toEqual({
      ...{ ...outcome, ids: [7] },
      claim: { status: 'failed', proof: null, error: "User 'denied' it" },
    });
  });

  it.each(['0x12', HASH.slice(2), `${HASH}0`, 12, {}, ['x'], true])('takes the hash %j as none', (txHash) => {
    expect(read('wallet:tx_complete', { txHash, status: 'success', pending_tx_ids: [1] })).toMatchObject({
      claim: { proof: null },
      isMalformed: true,
    });
  });

  it('reads hashes and signatures in lower case', () => {
    const txHash = `0x${'AB'.repeat(32)}`;
    expect(read('wallet:tx_complete', { txHash, status: 'failed', pending_tx_ids: [1] })).toMatchObject({
      claim: { proof: txHash.toLowerCase() },
    });
    const signature = `0x${'CD'.repeat(65)}`;
    const response = { status: 'success', signature, pending_eip712_id: 3 };
    expect(read('wallet_eip712_response', response)).toEqual({
      ...{ kind: 'outcome', of: 'signature', ids: [3], isMalformed: false },
      claim: { status: 'success', proof: signature.toLowerCase(), error: null },
    });
    const long = { ...response, signature: `0x${'a'.repeat(40_000)}` };
    expect(read('wallet_eip712_response', long)).toMatchObject({ claim: { proof: null }, isMalformed: true });
  });

  it.each([
    { status: 'success' },
    { status: 'success', pending_tx_ids: [] },
    { status: 'success', pending_tx_ids: [0, -1, 1.5, '0x1', '1e3', '', null, {}, [1], '9'.repeat(40)] },
    { status: 'success', pending_tx_ids: { 0: 1 } },
    { status: 'done', pending_tx_ids: [1] },
    { pending_tx_ids: [1] },
    null,
    [],
    'x',
  ])('finds nothing in an outcome of odd shape: %j', (payload) => {
    expect(read('wallet:tx_complete', payload)).toEqual(NOTHING);
  });

  it('bounds the number of ids', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => index + 1);
    const report = read('wallet:tx_complete', { status: 'failed', pending_tx_ids: ids });
    expect(report.kind === 'outcome' && report.ids.length).toBe(100);
  });

  it('reads a change of the wallet, and leaves out fields that are unusable', () => {
    const patch = (payload: unknown) => read('wallet:state_changed', payload);
    expect(patch({ address: '0xAb', chainId: 10, isConnected: true, ens_name: 'a.eth', more: 1 })).toEqual({
      kind: 'wallet_changed',
      patch: { address: '0xAb', chain_id: 10, is_connected: true, ens_name: 'a.eth' },
    });
    expect(patch({ address: null, chain_id: '0xa', is_connected: false })).toEqual({
      kind: 'wallet_changed',
      patch: { address: null, chain_id: '0xa', is_connected: false },
    });
    expect(patch({ chainId: null, chain_id: 1 })).toEqual({
      kind: 'wallet_changed',
      patch: { chain_id: null },
    });
    const odd = { address: 'x'.repeat(129), chainId: 1.5, isConnected: 'yes', ens_name: {} };
    expect(patch(odd)).toEqual(NOTHING);
    expect(patch({ address: 1, chain_id: 'ten', is_connected: 1, ens_name: 'x'.repeat(300) })).toEqual(
      NOTHING,
    );
  });

  it('never throws', () => {
    const type = fc.constantFrom('wallet:tx_complete', 'wallet_eip712_response', 'wallet:state_changed');
    const keys = ['txHash', 'status', 'error', 'pending_tx_ids', 'pending_eip712_id', 'address', 'chainId'];
    const payload = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()));
    fc.assert(fc.property(type, payload, (name, value) => void read(name, value)));
    fc.assert(fc.property(fc.string(), (text) => void readReport(text)));
  });
});
