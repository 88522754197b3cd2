import { describe, expect, it, jest } from '@jest/globals';
import { CallDeltas } from '../../src/adapters/models/openai-compatible/call-deltas.js';

const call = (n: number, over: { index?: number; name?: string } = {}) => ({
  ...{ index: undefined, id: String(n), name: 'look', args: '{}' },
  ...over,
});

describe('CallDeltas', () => {
  it('refuses a response with more calls than a turn accepts', () => {
    const deltas = new CallDeltas();
    expect(() => {
      for (let n = 0; n < 1_000; n++) deltas.take(call(n));
    }).toThrow('unreadable');
    expect(deltas.end()).toHaveLength(257);
  });

  it('refuses as many fragments without a name', () => {
    const deltas = new CallDeltas();
    expect(() => {
      for (let n = 0; n < 1_000; n++) deltas.take({ index: n, id: undefined, name: undefined, args: '{' });
    }).toThrow('unreadable');
  });

  it('limits how often endless arguments are parsed, however many fragments could continue them', () => {
    const deltas = new CallDeltas();
    const parse = jest.spyOn(JSON, 'parse');
    const fragment = (args: string) => ({ index: 0, id: undefined, name: 'look', args });
    deltas.take(fragment(`{"a":"${'x'.repeat(500_000)}`));
    for (let n = 0; n < 1_000; n++) deltas.take(fragment('{'));
    const parsed = parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    parse.mockRestore();
    expect(parsed).toBeLessThan(5_000_000);
    expect(deltas.end()).toHaveLength(1);
  });

  it('begins a call when the arguments of the one before are complete', () => {
    const deltas = new CallDeltas();
    for (const args of ['{"a":', '{"b":1}', '}', '{"c":2}'])
      deltas.take({ index: 0, id: undefined, name: args.startsWith('{') ? 'look' : undefined, args });
    expect(deltas.end().map(({ input }) => input)).toEqual(['{"a":{"b":1}}', '{"c":2}']);
  });
});
