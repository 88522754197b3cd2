import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PlainText } from '../../src/adapters/ai-sdk/plain-text.js';
import { endChunk, textChunk, toolChunk } from '../support/upstream.js';

function frame(chunk: unknown, end = '\n\n'): string {
  return `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}${end}`;
}

/** Gives the bytes in pieces that end at these places; what was taken as text, and what was left. */
function pass(stream: string, cuts: readonly number[] = []): { said: string[]; left: string } {
  const said: string[] = [];
  const plain = new PlainText((text) => said.push(text));
  const bytes = Buffer.from(stream);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  const left: Uint8Array[] = [];
  let from = 0;
  for (const to of places) {
    const rest = plain.take(bytes.subarray(from, to));
    if (rest !== undefined) left.push(rest);
    from = to;
  }
  const rest = plain.rest();
  if (rest !== undefined) left.push(rest);
  return { said, left: Buffer.concat(left).toString() };
}

const END = frame(endChunk()) + frame('[DONE]');

describe('plain text on its way past the provider package', () => {
  it('is taken out, whatever pieces it comes in', () => {
    const texts = ['Grüße', ' 👋', ' "error"', '\n\n', ' end'];
    const stream = texts.map((text) => frame(textChunk(text))).join('') + END;
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 30 }), (cuts) => {
        expect(pass(stream, cuts)).toEqual({ said: texts, left: END });
      }),
    );
  });

  it('leaves calls, usage and the end to the package', () => {
    const call = frame(toolChunk(0, { id: 'c', name: 'add', arguments: '{}' }));
    expect(pass(frame(textChunk('one')) + call + END)).toEqual({ said: ['one'], left: call + END });
  });

  it.each([
    ['text beside an end', { choices: [{ index: 0, delta: { content: 'last' }, finish_reason: 'stop' }] }],
    ['text beside a thought', { choices: [{ index: 0, delta: { content: 'x', reasoning_content: 'y' } }] }],
    ['text in parts', { choices: [{ index: 0, delta: { content: [{ type: 'text', text: 'x' }] } }] }],
    ['an error', { error: { message: 'no' } }],
    ['what is not JSON', '{'],
  ])('leaves %s, and all that follows it, so that nothing overtakes it', (_name, strange) => {
    const rest = frame(strange) + frame(textChunk('after')) + END;
    expect(pass(frame(textChunk('before')) + rest)).toEqual({ said: ['before'], left: rest });
  });

  it('leaves a stream with other ends of lines as it is', () => {
    const stream = frame(textChunk('one'), '\r\n\r\n') + frame(textChunk('two'), '\r\n\r\n');
    expect(pass(stream, [20, 300])).toEqual({ said: [], left: stream });
  });
});
