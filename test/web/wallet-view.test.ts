import { describe, expect, it } from '@jest/globals';
import { endedIn, lastFailure, replyOf, textAfter } from '../../src/client/messages.js';
import type { ChatMessage, SessionState } from '../../src/client/types.js';
import { changed, type Change } from '../../src/client/view/changes.js';
import { EMPTY_VIEW, isBusy, type View } from '../../src/client/view/view.js';
import { isReported } from '../../src/web/chat/conversation/wallet-state.js';

function message(sender: ChatMessage['sender'], content: string, isStreaming = false): ChatMessage {
  return { sender, content, timestamp: '2026-01-01T00:00:00.000Z', isStreaming, toolResult: null };
}

const user = message('user', 'Pay');
const agent = message('agent', 'Approve.');
const report = message(
  'system',
  'The wallet reported success for request 1 (a), transaction 0x1; not verified yet.',
);
const verdict = message('system', 'Wallet request 1 (a): confirmed. Transaction 0x1 in block 2.');
const failure = message('system', 'The model failed');
const next = message('user', 'Next');

function stateOf(status: SessionState['status'], ...messages: readonly ChatMessage[]): SessionState {
  return { title: 'T', status, messages, userState: null, errors: [], raw: {} };
}

const running = (...messages: readonly ChatMessage[]) => stateOf('processing', ...messages);

function viewOf(...changes: readonly Change[]): View {
  return changes.reduce(changed, EMPTY_VIEW);
}

const stated = (state: SessionState): Change => ({ type: 'state', state });

/** The senders of what is shown, and what is queued. */
function shown(view: View): readonly [string, readonly string[]] {
  return [view.messages.map(({ role }) => role.charAt(0)).join(''), view.queued];
}

describe('A turn that a wallet began', () => {
  it.each<[string, ChatMessage[], string, string[]]>([
    ['has begun', [user, agent, report], 'uas', []],
    ['has a verdict', [user, agent, report, verdict], 'uass', []],
    ['has text', [user, agent, report, verdict, message('agent', 'Th', true)], 'uassa', []],
    ['has begun, and a message waits', [user, agent, report, next], 'uas', ['Next']],
    ['has a verdict, and a message waits', [user, agent, report, verdict, next], 'uass', ['Next']],
    ['waits for a reply', [user, message('agent', 'App', true), report], 'ua', []],
    [
      'waits for a reply, and a message for it',
      [user, message('agent', 'App', true), report, next],
      'ua',
      ['Next'],
    ],
    ['failed, and the next runs', [user, agent, report, verdict, failure, next], 'uasssu', []],
  ])('%s', (_name, messages, senders, queued) => {
    const view = viewOf(stated(running(...messages)));
    expect(shown(view)).toEqual([senders, queued]);
    expect(isBusy(view)).toBe(true);
  });

  it('shows its text after the verdict, and ends with its own end', () => {
    const turn = { turnId: 'B' };
    const view = viewOf(
      stated(stateOf('idle', user, agent)),
      stated(running(user, agent, report)),
      { type: 'turn_started', ...turn },
      stated(running(user, agent, report, verdict)),
      { type: 'text', content: 'Thanks', ...turn },
      { type: 'turn_ended', turnId: 'A', status: 'complete' },
    );
    expect(shown(view)[0]).toBe('uassa');
    expect(isBusy(view)).toBe(true);
    expect(isBusy(changed(view, { type: 'turn_ended', status: 'complete', ...turn }))).toBe(false);
  });

  it.each<[string, ChatMessage[], number, string]>([
    ['a reply before it', [user, agent, report], 0, ''],
    ['a verdict', [user, agent, report, verdict], 1, ''],
    ['text of its own', [user, agent, report, verdict, message('agent', 'Th', true)], 1, 'Th'],
    ['a reply that still runs', [user, message('agent', 'App', true), report], 0, ''],
  ])('has text of its own with %s', (_name, messages, ended, text) => {
    expect(endedIn(running(...messages))).toBe(ended);
    expect(textAfter(messages, 1)).toBe(text);
  });

  it('is neither part of the reply before it nor a failure', () => {
    const state = stateOf('idle', user, agent, report, verdict, message('agent', 'Thanks'));
    expect(replyOf(state, 1)).toEqual({ text: 'Approve.', failure: undefined });
    expect(lastFailure(state)).toBeUndefined();
    expect(lastFailure(stateOf('idle', user, failure, report, verdict))).toBe('The model failed');
  });
});

describe('isReported', () => {
  const wallet = { address: '0xAB', chainId: 1, isConnected: true };

  it('compares flat and nested user states', () => {
    const nested = { evm: { address: '0xab', chain_id: 1 }, connection: { is_connected: true } };
    expect(isReported(nested, wallet)).toBe(true);
    expect(isReported({ address: '0xab', chain_id: 1, is_connected: true }, wallet)).toBe(true);
    expect(isReported(nested, { ...wallet, chainId: 2 })).toBe(false);
    expect(isReported(nested, { address: null, chainId: null, isConnected: false })).toBe(false);
    expect(isReported(null, wallet)).toBe(false);
    expect(isReported(null, { address: null, chainId: null, isConnected: false })).toBe(true);
  });
});
