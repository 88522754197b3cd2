import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../src/adapters/platform/uuid/clock.js';
import { createSchemas } from '../../../src/adapters/tools/schema/schemas.js';
import type { JsonValue } from '../../../src/core/model/json.js';
import type { Tool } from '../../../src/core/ports/tool.js';
import { MAX_RESULT_BYTES, ToolRunner } from '../../../src/core/tools/tool-runner.js';
import { keptLog, testApp } from '../../support/core.js';

/** Runs a tool of some making, as an operator's module may be. */
async function resultOf(run: () => unknown, secrets = new Map<string, string>()) {
  const tool: Tool = {
    ...{ name: 't', description: '', parameters: { type: 'object' }, sideEffects: 'none', timeoutMs: null },
    // What a module gives is not always what its type says.
    run: () => Promise.resolve(JSON.parse('null') as JsonValue).then(run as () => JsonValue),
  };
  const toolbox = new ToolRunner(
    { list: () => [tool] },
    createSchemas(),
    { toolTimeoutMs: 1_000 },
    systemClock,
    keptLog(),
  );
  const context = {
    ...{ sessionId: 's', callId: 'c', turn: null, app: 'default' },
    wallet: null,
    userState: null,
    secrets,
    signal: new AbortController().signal,
  };
  return toolbox.run(testApp(), { callId: 'c', name: 't', args: {} }, context, () => undefined);
}

describe('a tool’s result', () => {
  it('that JSON cannot carry is a failure in words, and nothing is null', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    for (const bad of [() => 1n, () => circular]) {
      expect(await resultOf(bad)).toMatchObject({ failed: true, result: expect.stringContaining('JSON') });
    }
    expect(await resultOf(() => undefined)).toMatchObject({ failed: false, result: null });
    expect(await resultOf(() => ({ at: new Date(0) }))).toMatchObject({
      result: { at: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('nested too deeply ends neither the turn nor the process', async () => {
    for (const depth of [201, 50_000]) {
      let deep: unknown = 0;
      for (let n = 0; n < depth; n++) deep = [deep];
      expect(await resultOf(() => deep)).toMatchObject({ failed: true });
    }
  });

  it('is bounded, with a marker', async () => {
    const { result } = await resultOf(() => 'x'.repeat(MAX_RESULT_BYTES + 1));
    expect(
      typeof result === 'string' &&
        result.endsWith(`… [cut: the result has ${String(MAX_RESULT_BYTES + 1)} bytes]`),
    ).toBe(true);
  });

  it('is cut before it is examined', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    try {
      const rows = Array.from({ length: 10_000 }, (_, at) => ({ at, note: 'x' }));
      const { result, failed } = await resultOf(() => rows);
      const bytes = String(JSON.stringify(rows).length);
      expect(failed).toBe(false);
      expect(typeof result === 'string' && result.startsWith('[{"at":0,"note":"x"},')).toBe(true);
      expect(typeof result === 'string' && result.endsWith(`… [cut: the result has ${bytes} bytes]`)).toBe(
        true,
      );
      for (const [text] of parse.mock.calls) expect(text.length).toBeLessThan(MAX_RESULT_BYTES);
    } finally {
      parse.mockRestore();
    }
  });

  it('and a failure show no secret', async () => {
    const secrets = new Map([['KEY', 'hunter2222']]);
    expect((await resultOf(() => ({ got: 'a hunter2222 b' }), secrets)).result).toEqual({
      got: 'a $SECRET:KEY b',
    });
    const failing = (): never => {
      throw new Error('bad key hunter2222');
    };
    expect((await resultOf(failing, secrets)).result).toBe('bad key $SECRET:KEY');
  });
});
