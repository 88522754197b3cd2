import { describe, expect, it } from '@jest/globals';
import { RigError } from '../../src/core/ports/rig.js';
import { endChunk, textChunk } from '../support/upstream.js';
import { ask } from './ai-sdk-dialects.js';
import { scriptedCompletions } from './scripted-completions.js';

interface Outcome {
  readonly text: string;
  readonly error: RigError | undefined;
}

/** What a rig makes of a response with status 200, whose body arrives byte by byte. */
async function read(body: string): Promise<Outcome> {
  let text = '';
  try {
    await scriptedCompletions().ask(ask('hi'), { body }, (part) => {
      if (part.type === 'text') text += part.text;
    });
    return { text, error: undefined };
  } catch (error) {
    if (!(error instanceof RigError)) throw error;
    return { text, error };
  }
}

function frames(...events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

describe('A response that ends by the finish reason', () => {
  it.each([
    ['content_filter: PROHIBITED_CONTENT', /content rules/, false],
    ['sensitive', /content rules/, false],
    ['function_call_filter: MALFORMED_FUNCTION_CALL', /could not be read/, true],
    ['error', /could not be read/, true],
    ['abort', /could not be read/, true],
    ['insufficient_system_resource', /could not be read/, true],
    ['network_error', /could not be read/, true],
    ['model_length', /ran out of room/, false],
  ])('%s fails', async (reason, words, retryable) => {
    const { error } = await read(frames(endChunk(reason)));
    expect(error?.message).toMatch(words);
    expect(error?.info.retryable).toBe(retryable);
  });

  it.each(['eos', 'COMPLETE', 'model_length'])('%s is complete once there is text', async (reason) => {
    expect(await read(frames(textChunk('so'), endChunk(reason)))).toEqual({ text: 'so', error: undefined });
  });

  it('"" is cut', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'so' }, finish_reason: '' }] };
    expect((await read(frames(chunk))).error?.message).toMatch(/connection was cut/);
    expect(await read(frames(chunk, endChunk()))).toEqual({ text: 'so', error: undefined });
  });
});

describe('A response with status 200 that has an error', () => {
  const context = { code: 400, message: 'the request exceeds the available context size' };

  it.each([
    ['as JSON in place of events', JSON.stringify({ error: context })],
    ['as indented JSON', `${JSON.stringify({ error: context }, null, 2)}\n`],
    ['as text in JSON', JSON.stringify({ error: context.message })],
    ['in a field of the stream', `error: ${JSON.stringify(context)}\n\ndata: [DONE]\n\n`],
    ['as text in an event', `event: error\n${frames({ error: context.message })}`],
  ])('%s says which', async (_, body) => {
    const { error } = await read(body);
    expect(error?.message).toMatch(/too long for this model/);
    expect(error?.info.retryable).toBe(false);
    expect(error?.reason).toContain('exceeds the available context size');
  });

  it('about its path concerns the address', async () => {
    const message = 'Unexpected endpoint or method. (POST /chat/completions)';
    const { error } = await read(JSON.stringify({ error: message }));
    expect(error?.message).toMatch(/check its address/);
    expect(error?.info.retryable).toBe(false);
    expect(error?.reason).toContain(message);
  });

  it('after some text keeps the text', async () => {
    const { text, error } = await read(`${frames(textChunk('so'))}error: ${JSON.stringify(context)}\n\n`);
    expect(text).toBe('so');
    expect(error?.message).toMatch(/too long/);
  });

  it('does not if its JSON is a whole completion: the server does not stream', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
    const { error } = await read(JSON.stringify({ object: 'chat.completion', choices }));
    expect(error?.info.retryable).toBe(false);
    expect(error?.reason).toContain('no_stream');
  });

  it('does not if its lines are no JSON', async () => {
    expect((await read('strange: y\nerror: {"mess')).error?.message).toMatch(/connection was cut/);
  });
});
