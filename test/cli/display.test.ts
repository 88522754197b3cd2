import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { SessionEvent } from '../../src/client/index.js';
import { Display } from '../../src/cli/chat/display.js';

const ACUTE = '\u0301';

/** Returns what a display writes for events of one turn. */
function shown(isTTY: boolean, ...events: readonly SessionEvent[]): string {
  const output = Object.assign(new PassThrough(), { isTTY });
  const display = new Display({
    ...{ input: new PassThrough(), output, errors: output, env: { NO_COLOR: '1' } },
    onInterrupt: () => () => undefined,
    onStop: () => () => undefined,
    setExitCode: () => undefined,
    exit: () => undefined,
  });
  display.show({ type: 'turn_started', turnId: 't' });
  for (const event of events) display.show(event);
  return String(output.read() ?? '');
}

const text = (content: string): SessionEvent => ({ type: 'text', turnId: 't', content });

describe('Display', () => {
  it('escapes marks that a reply stacks over other lines, across events too', () => {
    const reply = [text(`a${ACUTE}`), text(ACUTE.repeat(3)), text(`${ACUTE}b`)];
    expect(shown(true, ...reply)).toBe(`a${ACUTE.repeat(3)}\\u0301\\u0301b`);
    expect(shown(false, ...reply)).toBe(`a${ACUTE.repeat(5)}b`);
  });

  it('escapes invisible characters in lines about tools, and truncates the lines', () => {
    const tool = { type: 'tool', turnId: 't', callId: 'c', name: 'look\u202e' } as const;
    expect(shown(true, { ...tool, status: 'running', args: { note: `a${ACUTE.repeat(4)}` } })).toBe(
      `→ look\\u202e {"note":"a${ACUTE.repeat(3)}\\u0301"}\n`,
    );
    const result = `\u200b${'x'.repeat(300)}`;
    expect(shown(true, { ...tool, status: 'complete', result })).toBe(
      `← look\\u202e \\u200b${'x'.repeat(199)}… (101 more)\n`,
    );
  });

  it('escapes marks that are stacked in notes and errors', () => {
    const marks = ACUTE.repeat(4);
    const ended = { type: 'turn_ended', turnId: 't', status: 'failed', error: `a${marks}` } as const;
    expect(shown(true, ended)).toBe(`! a${ACUTE.repeat(3)}\\u0301\n`);
  });
});
