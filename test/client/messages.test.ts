import { describe, expect, it } from '@jest/globals';
import { endedIn, ordinalOf, queuedFrom, replyOf, textAfter } from '../../src/client/messages.js';
import { wellFormed } from '../../src/client/well-formed.js';
import { agent, outcome, state, user } from './states.js';

describe('the text after a number of turns', () => {
  it('is that of the next turn and of those behind it', () => {
    const messages = [user('a'), agent('Look.'), outcome('add', '3'), agent(' 3'), user('b'), agent('Yes.')];
    expect([0, 1, 2].map((turns) => textAfter(messages, turns))).toEqual(['Look. 3Yes.', 'Yes.', '']);
  });
});

describe('the queued messages', () => {
  it('begin behind a cancelled turn, which ends like an unfinished one', () => {
    const { state: running } = state('processing', user('a'), agent('Look.'), outcome('add', '3'), user('b'));
    expect(endedIn(running)).toBe(0);
    expect(queuedFrom(running.messages)).toBe(3);
    expect(queuedFrom(running.messages, 1)).toBe(4);
  });
});

describe('the reply to a message', () => {
  it('is found by its turn when the same words are sent again', () => {
    const { state: sent } = state('processing', user('go on'));
    const ordinal = ordinalOf(sent.messages, 'go on') ?? 0;
    const { state: later } = state(
      'processing',
      ...[user('go on'), agent('First'), user('go on'), agent('Second')],
    );
    expect(replyOf(later, ordinal)?.text).toBe('First');
    expect(replyOf(later, ordinalOf(later.messages, 'go on'))?.text).toBe('Second');
  });
});

describe('wellFormed', () => {
  it('replaces lone surrogates and NUL alone', () => {
    expect(wellFormed('a\uD83D b\uDE00 \u{1F600}')).toBe('a\uFFFD b\uFFFD \u{1F600}');
    expect(wellFormed('a\0\tb')).toBe('a\uFFFD\tb');
  });
});
