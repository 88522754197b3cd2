import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { respond } from '../../../src/core/turns/masked-response.js';
import type { Rig, RigPart, RigRequest } from '../../../src/core/ports/rig.js';
import { NO_USAGE } from '../../../src/core/model/turn.js';

const request: RigRequest = { purpose: 'answer', instructions: '', messages: [], tools: [] };
const end: RigPart = { type: 'end', usage: NO_USAGE };

async function partsOf(given: readonly RigPart[], apiKey?: string): Promise<readonly RigPart[]> {
  const rig: Rig = {
    ...{ id: 'm', name: 'M', provider: 'openai', contextTokens: 1000 },
    respond(_request, _signal, take) {
      given.forEach(take);
      return Promise.resolve();
    },
    attachedTokens: () => 0,
    check: () => Promise.resolve(undefined),
  };
  const parts: RigPart[] = [];
  const asked = apiKey === undefined ? request : { ...request, apiKey };
  await respond(rig, asked, new AbortController().signal, (part) => parts.push(part));
  return parts;
}

function texts(...pieces: readonly string[]): readonly RigPart[] {
  return pieces.map((text) => ({ type: 'text', text }));
}

function textOf(parts: readonly RigPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

describe('respond', () => {
  it('passes on what a request without a key of its own gets', async () => {
    const parts = [...texts('sk-', 'abc'), end];
    expect(await partsOf(parts)).toEqual(parts);
  });

  it('masks the key of the request however its text is cut, and shows other text at once', async () => {
    const parts = await partsOf([...texts('Hi ', 'sk-s', 'k-secr', 'et!', ' sk-', 'sec'), end], 'sk-secret');
    expect(textOf(parts)).toBe('Hi sk-$PROVIDER_KEY! sk-sec');
    expect(parts[0]).toEqual({ type: 'text', text: 'Hi ' });
    expect(parts.at(-1)).toEqual(end);
  });

  it('masks the key in tool calls, in every encoding that tools are searched for', async () => {
    const key = 'sk-secret-0123456789';
    const call = {
      callId: `call-${key}`,
      name: 'tool',
      args: { [key]: [key], hex: Buffer.from(key).toString('hex') },
      problem: 'p',
    };
    const parts = await partsOf([...texts('sk-'), { type: 'tool_call', call }, end], key);
    expect(parts).toEqual([
      { type: 'text', text: 'sk-' },
      {
        type: 'tool_call',
        call: {
          ...{ callId: 'call-$PROVIDER_KEY', name: 'tool', problem: 'p' },
          args: { $PROVIDER_KEY: ['$PROVIDER_KEY'], hex: '$PROVIDER_KEY' },
        },
      },
      end,
    ]);
  });

  it('replaces exactly the occurrences of the key, in any cut of any text', async () => {
    const letters = fc.constantFrom('a', 'b');
    const text = fc.string({ unit: letters, maxLength: 60 });
    const key = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(text, key, fc.array(fc.nat(60), { maxLength: 8 }), async (whole, secret, cuts) => {
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((to, index) => whole.slice(at[index], to));
        const parts = await partsOf([...texts(...pieces), end], secret);
        expect(textOf(parts)).toBe(whole.split(secret).join('$PROVIDER_KEY'));
      }),
    );
  });
});
