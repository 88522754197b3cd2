import { describe, expect, it, test } from '@jest/globals';
import { AlikeEvents } from '../../src/adapters/ai-sdk/completions/alike-events.js';

const BEFORE = '{"id":"c","choices":[{"delta":{"content":';
const AFTER = '},"finish_reason":null}]}';

const chunk = (string: string): string => BEFORE + string + AFTER;
const event = (string: string): string => `data: ${chunk(string)}\n\n`;

/** Has seen two events that are alike. */
function taught(): AlikeEvents {
  const events = new AlikeEvents();
  events.note(chunk('"one"'), 'one');
  events.note(chunk('"two"'), 'two');
  return events;
}

/** The texts that are read of a stream, and what of it is left. */
function read(events: AlikeEvents, stream: string): { texts: string[]; rest: string } {
  const texts: string[] = [];
  // Not at the beginning of a buffer, nor up to its end, as reads of a connection are.
  const bytes = Buffer.from(`>${stream}<`);
  const at = events.read(bytes, 1, bytes.length - 1, { takeText: (text) => texts.push(text) });
  return { texts, rest: bytes.toString('utf8', at, bytes.length - 1) };
}

describe('events that are like those before them', () => {
  it('are read to the last', () => {
    const strings = ['"three"', '" four"', '""', '"\\"\\\\\\u00e9\\n"', ' "spaced"', '"Grüße 👋"'];
    expect(read(taught(), strings.map(event).join(''))).toEqual({
      texts: ['three', ' four', '', '"\\é\n', 'spaced', 'Grüße 👋'],
      rest: '',
    });
  });

  test.each([
    ['another event', `data: {"choices":[]}\n\n`],
    ['another end', event('"x"').replace('null', 'stop')],
    ['a comment', ': ping\n\n'],
    ['the end mark', 'data: [DONE]\n\n'],
    ['an event that is not all there', event('"three"').slice(0, -1)],
    ['a string that is not all there', event('"three"').slice(0, -AFTER.length - 4)],
    ['a string that ends with a backslash', event('"three\\"')],
    ['what is no string', event('null')],
    ['two spaces', event('  "x"')],
    ['a line break in the string', event('"a\nb"')],
    ['an escape that is none', event('"\\x"')],
    ['data without a blank', event('"x"').replace('data: ', 'data:')],
    ['another end of line', event('"x"').replaceAll('\n', '\r\n')],
    ['a second line', event('"x"').replace(/\n$/, 'data: y\n\n')],
  ])('are read up to %s', (_name, other) => {
    const stream = other + event('"later"');
    expect(read(taught(), event('"three"') + stream)).toEqual({ texts: ['three'], rest: stream });
  });

  test.each([
    ['nothing', []],
    ['one event', ['one']],
    ['two of the same text', ['one', 'one']],
  ])('are not known from %s', (_name, texts) => {
    const events = new AlikeEvents();
    for (const text of texts) events.note(chunk(JSON.stringify(text)), text);
    expect(read(events, event('"three"'))).toEqual({ texts: [], rest: event('"three"') });
  });

  it('are not known where what is around the text is not of one byte a character, or of several lines', () => {
    for (const odd of ['é', '\n']) {
      const events = new AlikeEvents();
      const around = (text: string): string => chunk(JSON.stringify(text)).replace('"c"', `"${odd}"`);
      for (const text of ['one', 'two']) events.note(around(text), text);
      const stream = `data: ${around('three')}\n\n`;
      expect(read(events, stream)).toEqual({ texts: [], rest: stream });
    }
  });

  it('are learned anew when they change', () => {
    const events = taught();
    const other = (string: string): string => event(string).replace('null', '"x"');
    for (const text of ['five', 'six']) events.note(other(`"${text}"`).slice('data: '.length, -2), text);
    expect(read(events, other('"seven"') + event('"one"'))).toEqual({
      texts: ['seven'],
      rest: event('"one"'),
    });
  });
});
