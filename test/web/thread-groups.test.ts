import { describe, expect, it } from '@jest/globals';
import { groupsOf, matching } from '../../src/web/chat/threads/groups.js';

const NOW = new Date(2026, 2, 31, 9, 30);

function thread(title: string, at: Date | null) {
  return { sessionId: title, title, at: at?.getTime() ?? null };
}

/** The groups as `heading: titles`. */
function shown(...threads: readonly ReturnType<typeof thread>[]): readonly string[] {
  return groupsOf(threads, NOW).map(
    ({ heading, threads: inside }) => `${heading}: ${inside.map(({ title }) => title).join(' ')}`,
  );
}

describe('groupsOf', () => {
  it('groups by calendar days, not by spans of 24 hours, across the begin of summer time too', () => {
    expect(
      shown(
        thread('midnight', new Date(2026, 2, 31, 0, 0)),
        thread('late', new Date(2026, 2, 30, 23, 59)),
        thread('yesterday', new Date(2026, 2, 30, 0, 0)),
        thread('before', new Date(2026, 2, 29, 23, 59)),
        thread('week', new Date(2026, 2, 24, 0, 0)),
        thread('month', new Date(2026, 2, 23, 23, 59)),
        thread('old', new Date(2026, 1, 28, 23, 59)),
      ),
    ).toEqual([
      'Today: midnight',
      'Yesterday: late yesterday',
      'Previous 7 days: before week',
      'Previous 30 days: month',
      'Older: old',
    ]);
  });

  it('sorts by time, puts a clock that is ahead under today, and unknown times last in their order', () => {
    expect(
      shown(
        thread('b', null),
        thread('early', new Date(2026, 2, 31, 1)),
        thread('ahead', new Date(2026, 3, 2)),
        thread('a', null),
      ),
    ).toEqual(['Today: ahead early', 'From other devices: b a']);
    expect(shown()).toEqual([]);
  });
});

describe('matching', () => {
  const threads = ['Pilze in Zürich', 'zurich weather', 'Prices'].map((title) => thread(title, null));
  const found = (query: string) => matching(threads, query).map(({ title }) => title);

  it('finds all words in any order, whatever the case and the accents', () => {
    expect(found('ZURICH')).toEqual(['Pilze in Zürich', 'zurich weather']);
    expect(found('zürich pil')).toEqual(['Pilze in Zürich']);
    expect(found(' ')).toHaveLength(3);
    expect(found('.*')).toEqual([]);
  });
});
