import { describe, expect, it } from '@jest/globals';
import { mergeUserState, shownUserState } from '../../../src/core/model/user-state.js';
import type { PendingRequest } from '../../../src/core/model/wallet-request.js';

const TO = `0x${'a'.repeat(40)}`;
const FROM = `0x${'b'.repeat(40)}`;
const common = { app: 'default', wallet: FROM, chainId: 10, expiresAt: 9 };
const native: PendingRequest = {
  ...common,
  ...{ id: 1, label: 'send 1 ETH' },
  payload: {
    ...{ kind: 'transaction', to: TO, value: '1000000000000000000000000000001', data: '0x' },
    ...{ gas: '21000', nonce: 3, after: [] },
  },
};
const call: PendingRequest = {
  ...common,
  ...{ id: 2, label: 'swap' },
  payload: { kind: 'transaction', to: TO, value: '0', data: '0xa9059cbb', gas: null, nonce: 3, after: [1] },
};
const typedData = { primaryType: 'Mail', message: { text: 'hi' } };
const typed: PendingRequest = {
  ...common,
  ...{ id: 3, label: 'sign the mail' },
  payload: { kind: 'signature', typedData, text: null },
};
const text: PendingRequest = {
  ...common,
  ...{ id: 4, label: 'sign in' },
  payload: { kind: 'signature', typedData: null, text: 'Hello' },
};

const transactions = {
  '1': {
    ...{ to: TO, value: '1000000000000000000000000000001', data: '0x', chain_id: 10, from: FROM },
    ...{ gas: '21000', label: 'send 1 ETH', kind: 'native_transfer' },
  },
  '2': { to: TO, value: '0', data: '0xa9059cbb', chain_id: 10, from: FROM, label: 'swap' },
};
const signatures = {
  '3': { typed_data: typedData, description: 'sign the mail', chain_id: 10, from: FROM },
  '4': { typed_data: null, description: 'sign in', chain_id: 10, from: FROM, message: 'Hello' },
};
const nested = { pending: { evm_txs: transactions, evm_sigs: signatures } };
const flat = { pending_txs: transactions, pending_eip712s: signatures };
const all = [native, call, typed, text];

describe('shownUserState with pending requests', () => {
  it('shows them to a session without user state, in both places', () => {
    expect(shownUserState(null, all)).toEqual({ ...flat, ...nested });
    expect(shownUserState(null, [])).toBeNull();
  });

  it('shows them beside flat keys, in both places', () => {
    const state = mergeUserState(null, { address: FROM });
    const [shown, bare] = [shownUserState(state, all), shownUserState(state)];
    expect(shown).toEqual({ ...bare, ...flat, ...nested });
    expect(shownUserState(state, [])).toEqual(bare);
  });

  it.each([{ evm: { address: FROM } }, { connection: { is_connected: true } }, { ens_name: 'a.eth' }])(
    'shows them in both places to a client that has sent no flat keys: %j',
    (sent) => {
      expect(shownUserState(mergeUserState(null, sent), all)).toEqual({ ...sent, ...flat, ...nested });
    },
  );

  it('leaves out a kind of which there is none', () => {
    expect(Object.keys(shownUserState(null, [native]) ?? {})).toEqual(['pending_txs', 'pending']);
    expect(shownUserState(null, [typed])).toEqual({
      pending_eip712s: { '3': signatures['3'] },
      pending: { evm_sigs: { '3': signatures['3'] } },
    });
  });

  it('ignores what a client sends under their keys', () => {
    const state = mergeUserState(null, { pending: { evm_txs: { '1': {} } }, pending_txs: { '9': {} } });
    expect(shownUserState(state, [native])).toMatchObject({ pending_txs: { '1': transactions['1'] } });
    expect(state.tree).toEqual({});
  });
});
