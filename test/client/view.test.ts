import { describe, expect, it } from '@jest/globals';
import type {
  ChatMessage,
  HistoryCall,
  HistoryMessage,
  HistoryTurn,
  ToolProgress,
} from '../../src/client/types.js';
import { changed, type Change } from '../../src/client/view/changes.js';
import { withArguments } from '../../src/client/view/tools.js';
import { EMPTY_VIEW, isBusy, type ToolBlock, type View } from '../../src/client/view/view.js';
import { agent, message, outcome, state, streaming, user } from './states.js';

const text = (content: string, turnId = 'A'): Change => ({ type: 'text', turnId, content });
const start = (turnId: string): Change => ({ type: 'turn_started', turnId });
const end = (turnId: string): Change => ({ type: 'turn_ended', turnId, status: 'complete' });
const sending = (words: string): Change => ({
  type: 'sending',
  message: { key: `key of ${words}`, text: words },
});
const tool = (status: ToolProgress['status'], more: Partial<ToolProgress> = {}): Change => ({
  ...{ type: 'tool', callId: 'c1', name: 'add', status },
  ...more,
});

/** A page of the history with these calls. */
const history = (...toolCalls: readonly HistoryCall[]): Change => ({
  type: 'history',
  page: {
    messages: [{ id: 'm1', turnId: 'A', role: 'assistant', content: '', toolCalls, createdAt: '' }],
    turns: [],
    hasMore: false,
  },
});

function after(...changes: readonly Change[]): View {
  return changes.reduce(changed, EMPTY_VIEW);
}

/** The thread in short: `U: text`, `A: text [tool status result] text`, and what waits as `Q: text`. */
function shown(view: View): string[] {
  const messages = view.messages.map(({ role, blocks }) => {
    const parts = blocks.map((block) =>
      block.kind === 'text' ? block.text : `[${block.name} ${block.status} ${block.result ?? '…'}]`,
    );
    return `${role.slice(0, 1).toUpperCase()}: ${parts.join(' ')}`;
  });
  return [...messages, ...view.queued.map((words) => `Q: ${words}`)];
}

describe('a view', () => {
  it('joins the steps of an answer, and keeps users and the service apart', () => {
    const view = after(
      state('idle', user('a'), agent('x'), outcome('add', '3'), agent('y'), message('system', 'failed')),
    );
    expect(shown(view)).toEqual(['U: a', 'A: x [add complete 3] y', 'S: failed']);
    expect(isBusy(view)).toBe(false);
  });

  it('ends all turns of a session that is gone, and reports no lost connection', () => {
    const view = after(
      ...[state('processing', user('a'), streaming('x'), user('b')), start('A'), text('y')],
      ...[{ type: 'connection', state: 'lost' } as const, { type: 'gone' } as const],
    );
    expect(shown(view)).toEqual(['U: a', 'A: xy', 'U: b']);
    expect(view.messages.map(({ fate }) => fate)).toEqual([undefined, 'interrupted', 'cancelled']);
    expect(isBusy(view)).toBe(false);
    expect(view.connection).toBe('open');
  });

  it.each<[string, ChatMessage[], string[]]>([
    ['its first text', [user('a'), streaming('x'), user('b')], ['U: a', 'A: x', 'Q: b']],
    ['nothing yet', [user('a'), user('b'), user('c')], ['U: a', 'Q: b', 'Q: c']],
    [
      'nothing yet, after another',
      [user('a'), agent('x'), user('b'), user('c')],
      ['U: a', 'A: x', 'U: b', 'Q: c'],
    ],
    [
      'a tool’s outcome',
      [user('a'), outcome('add', '3'), user('b')],
      ['U: a', 'A: [add complete 3]', 'Q: b'],
    ],
  ])('tells what waits from what is being answered with %s', (_name, messages, lines) => {
    const view = after(state('processing', ...messages));
    expect(shown(view)).toEqual(lines);
    expect(isBusy(view)).toBe(true);
  });

  it('shows a message at once, streams its answer, and yields to the state', () => {
    const before = [state('idle'), sending('hi')] as const;
    expect(shown(after(...before))).toEqual(['U: hi']);
    const live = [...before, start('A'), text('He'), text('llo')] as const;
    expect(shown(after(...live))).toEqual(['U: hi', 'A: Hello']);
    expect(isBusy(after(...live))).toBe(true);
    const over = after(...live, end('A'), state('idle', user('hi'), agent('Hello')));
    expect(shown(over)).toEqual(['U: hi', 'A: Hello']);
    expect(over.unseen).toEqual([]);
    expect(isBusy(over)).toBe(false);
  });

  it('keeps the objects of messages that a state says again, and no others', () => {
    const before = after(state('idle', user('a'), agent('x'), outcome('add', '3'), user('b'), agent('y')));
    const view = changed(
      before,
      state('idle', user('a'), agent('x'), outcome('add', '3'), user('b'), agent('z')),
    );
    expect(view.messages.map((each, index) => each === before.messages[index])).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const shorter = changed(before, state('idle', user('a'), agent('x'), user('b')));
    expect(shown(shorter)).toEqual(['U: a', 'A: x', 'U: b']);
  });

  it('keeps what was sent behind a state that does not have it yet', () => {
    const view = after(
      state('idle', user('a'), agent('x')),
      sending('a'),
      state('idle', user('a'), agent('x')),
    );
    expect(shown(view)).toEqual(['U: a', 'A: x', 'U: a']);
    expect(shown(changed(view, state('processing', user('a'), agent('x'), user('a'))))).toEqual([
      'U: a',
      'A: x',
      'U: a',
    ]);
  });

  it('forgets the text of a turn that begins again, and keeps its calls', () => {
    const done = [tool('running', { args: {} }), tool('complete', { result: '3' })] as const;
    const view = after(
      state('idle'),
      sending('1'),
      start('A'),
      ...done,
      text('He'),
      start('A'),
      text('Hello'),
    );
    expect(shown(view)).toEqual(['U: 1', 'A: [add complete 3] Hello']);
  });

  it('queues what is sent during a turn, and shows it when its own turn starts', () => {
    const one = [state('idle'), sending('1'), start('A'), text('x'), sending('2'), sending('3')] as const;
    expect(shown(after(...one))).toEqual(['U: 1', 'A: x', 'Q: 2', 'Q: 3']);
    const two = after(...one, end('A'), start('B'), text('y', 'B'));
    expect(shown(two)).toEqual(['U: 1', 'A: x', 'U: 2', 'A: y', 'Q: 3']);
  });

  it('shows nothing twice when a state contains the next turn before its start is reported', () => {
    const next = state('processing', user('1'), agent('x'), user('2'), user('3'));
    const view = after(
      state('idle'),
      sending('1'),
      start('A'),
      text('x'),
      sending('2'),
      sending('3'),
      next,
      end('A'),
      start('B'),
    );
    expect(shown(view)).toEqual(['U: 1', 'A: x', 'U: 2', 'Q: 3']);
    expect(shown(changed(view, text('y', 'B')))).toEqual(['U: 1', 'A: x', 'U: 2', 'A: y', 'Q: 3']);
  });

  it('withdraws what was refused', () => {
    const refused = (words: string): Change => ({ type: 'not_sent', key: `key of ${words}` });
    const only = after(state('idle'), sending('1'), refused('1'));
    expect(shown(only)).toEqual([]);
    expect(isBusy(only)).toBe(false);
    const queued = after(state('idle'), sending('1'), start('A'), text('x'), sending('2'), refused('2'));
    expect(shown(queued)).toEqual(['U: 1', 'A: x']);
    expect(isBusy(queued)).toBe(true);
  });

  it('follows a call: running with its arguments, how far it is, its result', () => {
    const begun = [state('idle'), sending('1'), start('A'), tool('running', { args: { a: 1 } })] as const;
    expect(after(...begun).messages[1]?.blocks).toMatchObject([
      { args: { a: 1 }, status: 'running', result: null },
    ]);
    const further = [
      ...begun,
      tool('running', { message: 'half' }),
      tool('complete', { result: '3' }),
    ] as const;
    const view = after(...further, text('so 3'), tool('running'));
    expect(shown(view)).toEqual(['U: 1', 'A: [add complete 3] so 3']);
    expect(view.messages[1]?.blocks[0]).toMatchObject({ args: { a: 1 }, progress: 'half', callId: 'c1' });
  });

  it.each<[string, ChatMessage[]]>([
    ['before its first text', [user('a')]],
    ['in a call of a tool', [user('a'), agent('Let me see.'), outcome('add', '3')]],
    ['while it was queued', [user('a'), agent('x'), user('b')]],
  ])('shows the message after a turn that was cancelled %s as the running one', (_, settled) => {
    const view = after(
      state('interrupted', ...settled),
      state('processing', ...settled, user('next')),
      start('B'),
      text('reply', 'B'),
    );
    expect(shown(view).slice(-2)).toEqual(['U: next', 'A: reply']);
    expect(view.queued).toEqual([]);
  });

  it('shows a call once when the state contained its outcome before the event did', () => {
    const told = after(
      state('processing', user('1'), outcome('add', '3')),
      tool('running'),
      tool('complete', { result: '3' }),
    );
    expect(shown(told)).toEqual(['U: 1', 'A: [add complete 3]']);
  });

  it('finds the arguments of calls in the history, from the end', () => {
    const call = (callId: string, a: number, result: string) => ({
      callId,
      name: 'add',
      args: { a },
      result,
      failed: false,
    });
    const view = after(
      state(
        'idle',
        user('1'),
        outcome('add', '3'),
        agent('x'),
        user('2'),
        outcome('add', '3'),
        outcome('add', '4'),
      ),
      history(call('c2', 2, '3'), call('c3', 3, '4'), call('c4', 4, '5')),
    );
    const args = view.messages.flatMap(({ blocks }) =>
      blocks.map((block) => (block.kind === 'tool' ? block.args : null)),
    );
    expect(args).toEqual([null, null, null, null, { a: 2 }, { a: 3 }]);
  });

  it('keeps a failed call failed after its turn, from the event or from the history', () => {
    const ended = state('idle', user('1'), outcome('add', 'no luck'), agent('sorry'));
    const told = [
      ...[state('idle'), sending('1'), start('A'), tool('running', { args: { a: 1 } })],
      tool('failed', { result: 'no luck' }),
      ended,
    ];
    expect(shown(after(...told))).toEqual(['U: 1', 'A: [add failed no luck] sorry']);

    const call = { callId: 'c1', name: 'add', args: { a: 1 }, result: 'no luck', failed: true };
    expect(shown(after(ended, history(call)))).toEqual(['U: 1', 'A: [add failed no luck] sorry']);
  });

  it('takes the failure of a call that arrives after its turn', () => {
    const view = after(
      ...[state('idle'), sending('1'), start('A'), tool('running', { args: { a: 1 } })],
      tool('complete', { result: 'no luck' }),
      state('idle', user('1'), outcome('add', 'no luck'), agent('sorry')),
      tool('failed', { result: 'no luck' }),
    );
    expect(shown(view)).toEqual(['U: 1', 'A: [add failed no luck] sorry']);
  });

  it('does not take a call that nobody here waits for into the thread', () => {
    expect(
      shown(after(state('idle', user('1'), agent('x')), tool('running'), tool('complete', { result: '3' }))),
    ).toEqual(['U: 1', 'A: x']);
  });

  it('does not take the record of an earlier turn with the same text for the running one', () => {
    const createdAt = '2026-01-01T00:00:00.000Z';
    const record = { turnId: 'A', toolCalls: [], createdAt };
    const turn = { rig: 'demo', inputTokens: 1, outputTokens: 1, error: null, createdAt };
    const stored: Change = {
      type: 'history',
      page: {
        messages: [
          { ...record, id: 'q1', role: 'user', content: 'again' },
          { ...record, id: 'a1', role: 'assistant', content: 'first' },
        ],
        turns: [{ ...turn, turnId: 'A', status: 'complete', endedAt: createdAt }],
        hasMore: false,
      },
    };
    const once = state('idle', user('again'), agent('first'));
    const sent = after(once, stored, sending('again'), stored);
    const running = after(once, sending('again'), start('B'), text('second', 'B'), stored);
    const stated = after(
      stored,
      state('processing', user('again'), agent('first'), user('again'), streaming('s')),
    );
    for (const view of [sent, running, stated]) {
      expect(view.messages.slice(0, 2).map(({ origin }) => origin?.messageId)).toEqual(['q1', 'a1']);
      const rest = view.messages.slice(2);
      expect(rest.length).toBeGreaterThan(0);
      for (const { origin, fate } of rest) expect([origin, fate]).toEqual([undefined, undefined]);
    }
  });

  it('tells when a reply that begins with tool calls has its first text', () => {
    const at = (second: number) => `2026-01-01T00:00:0${String(second)}.000Z`;
    const said = (id: string, content: string, second: number) => {
      const role: HistoryMessage['role'] = id === 'q' ? 'user' : 'assistant';
      return { id, turnId: 'A', role, content, toolCalls: [], createdAt: at(second) };
    };
    const turn = { rig: 'demo', inputTokens: 1, outputTokens: 1, error: null, createdAt: at(0) };
    const turns: HistoryTurn[] = [{ ...turn, turnId: 'A', status: 'complete', endedAt: at(5) }];
    const begin = [said('q', 'add', 0), said('a1', '', 1)];
    const spoken = (messages: readonly HistoryMessage[]) =>
      after(state('idle', user('add'), agent('3')), {
        type: 'history',
        page: { messages, turns, hasMore: false },
      }).messages.map(({ origin }) => [origin?.messageId, origin?.spokenAt]);
    const all = [...begin, said('a2', '3', 3), said('a3', '!', 4)];
    expect(spoken(all)).toEqual([
      ['q', at(3)],
      ['a1', at(3)],
    ]);
    expect(spoken(begin).map(([, spokenAt]) => spokenAt)).toEqual([null, null]);
  });

  it('keeps a message cancelled whose turn is announced after the state that has it', () => {
    const view = after(
      ...[state('processing', user('a'), streaming('x')), start('A'), sending('b')],
      ...[state('idle', user('a'), agent('x'), user('b')), end('A'), start('B'), history(), end('B')],
    );
    expect(view.messages.map(({ fate }) => fate)).toEqual([undefined, undefined, 'cancelled']);
  });

  describe('whose first state has a cancelled message before that of the running turn', () => {
    const first = state('processing', user('a'), user('b'), user('c'));
    /** The history, in which turns have these statuses. */
    const statuses = (...all: readonly HistoryTurn['status'][]): Change => ({
      type: 'history',
      page: {
        messages: all.map((_, i) => ({
          ...{ id: `m${String(i)}`, turnId: 'ABC'.charAt(i), role: 'user', content: 'abc'.charAt(i) },
          ...{ toolCalls: [], createdAt: '' },
        })),
        turns: all.map((status, i) => ({
          ...{ turnId: 'ABC'.charAt(i), status, rig: null, inputTokens: 0, outputTokens: 0, error: null },
          ...{ createdAt: '', endedAt: status === 'running' || status === 'queued' ? null : '' },
        })),
        hasMore: false,
      },
    });
    const read = statuses('interrupted', 'running', 'queued');

    it('takes the next message for the running one once the history is read, and after the next state', () => {
      expect(shown(after(first))).toEqual(['U: a', 'Q: b', 'Q: c']);
      const view = after(first, read);
      expect(shown(view)).toEqual(['U: a', 'U: b', 'Q: c']);
      expect(view.messages.map(({ fate }) => fate)).toEqual(['cancelled', undefined]);
      expect(shown(changed(view, first))).toEqual(['U: a', 'U: b', 'Q: c']);
      const started = [start('B'), text('x', 'B')];
      expect(shown(after(first, read, ...started))).toEqual(['U: a', 'U: b', 'A: x', 'Q: c']);
    });

    it('moves the reply that has begun before the history was read', () => {
      const view = after(first, start('B'), text('x', 'B'), read, text('y', 'B'));
      expect(shown(view)).toEqual(['U: a', 'U: b', 'A: xy', 'Q: c']);
      expect(view.messages.map(({ id }) => id)).toEqual(['0', '1', '2']);
      expect(shown(changed(changed(view, end('B')), start('C')))).toEqual(['U: a', 'U: b', 'A: xy', 'U: c']);
    });

    it('waits for the end of a turn that the history already has', () => {
      const view = after(first, start('A'), statuses('complete', 'running', 'queued'));
      expect(shown(view)).toEqual(['U: a', 'Q: b', 'Q: c']);
      expect(shown(changed(changed(view, end('A')), start('B')))).toEqual(['U: a', 'U: b', 'Q: c']);
    });
  });

  it('keeps the last notices until they are read', () => {
    const notices = [1, 2, 3, 4].map((n): Change => ({ type: 'notice', message: String(n) }));
    expect(after(...notices).notices).toEqual(['2', '3', '4']);
    expect(after(...notices, { type: 'notices_read' }).notices).toEqual([]);
  });
});

describe('the calls of a message', () => {
  it('have each an id of its own, also while a progress stands beside its outcome', () => {
    const call = { callId: 'c', name: 'add', args: { a: 1 }, result: '3', failed: false };
    const block = { kind: 'tool', name: 'add', args: null, progress: null, result: '3' } as const;
    const running: ToolBlock = { ...block, callId: 'c', status: 'running', result: null };
    const outcome: ToolBlock = { ...block, callId: null, status: 'complete' };
    const messages = [{ id: 'm', role: 'assistant' as const, blocks: [running, outcome, outcome] }];
    const [shown] = withArguments(messages, [call]);
    const ids = shown?.blocks.map((one) => (one.kind === 'tool' ? one.callId : one));
    expect(ids?.filter((id) => id === 'c')).toHaveLength(1);
    const [alone] = withArguments([{ id: 'm', role: 'assistant', blocks: [outcome] }], [call]);
    expect(alone?.blocks).toMatchObject([{ callId: 'c', args: { a: 1 } }]);
  });
});
