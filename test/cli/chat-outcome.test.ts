import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import {
  createClient,
  type ChatMessage,
  type Client,
  type SessionEvent,
  type SessionState,
  type WalletReport,
} from '../../src/client/index.js';
import { Display } from '../../src/cli/chat/display.js';
import { reportOutcome } from '../../src/cli/chat/report-outcome.js';
import { Gate } from '../support/gate.js';

const never = new AbortController().signal;
const REPORT: WalletReport = {
  type: 'wallet:tx_complete',
  payload: { status: 'failed', pending_tx_ids: [1] },
};
const [OPEN, TURN] = [{ type: 'connection', state: 'open' }, 't1'] as const;

const TOLD: readonly (readonly [ChatMessage['sender'], string])[] = [
  ['system', 'The wallet reported success for request 1 (pay), transaction 0x12; not verified yet.'],
  ['system', 'Wallet request 1 (pay): confirmed. Transaction 0x12 in block 5.'],
  ['agent', 'It is done.'],
];

/** A state that shows the first `count` messages of the turn. */
function state(count: number, status: SessionState['status'] = 'idle'): SessionState {
  const messages = TOLD.slice(0, count).map(([sender, content]) => {
    return { sender, content, timestamp: '', isStreaming: false, toolResult: null };
  });
  return { title: null, status, messages, userState: null, errors: [], raw: {} };
}

/** A client whose stream and responses a test writes. */
function scripted(script: {
  readonly events: () => AsyncGenerator<SessionEvent>;
  readonly report: () => Promise<void>;
  readonly state: SessionState;
}): Client {
  return {
    ...createClient({ url: 'http://127.0.0.1:9' }),
    async *watch(signal) {
      const ended = new Promise<undefined>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve(undefined);
        });
      });
      const events = script.events();
      for (;;) {
        const next = await Promise.race([events.next(), ended]);
        if (next === undefined || next.done === true) break;
        yield next.value;
      }
      await ended;
    },
    reportSystem: script.report,
    state: () => Promise.resolve(script.state),
  };
}

/** Reports, and returns what the terminal shows. */
async function shown(client: Client): Promise<string> {
  const [output, input] = [new PassThrough(), new PassThrough()];
  const terminal = {
    ...{ input, output, errors: output, env: {} },
    onInterrupt: () => () => undefined,
    onStop: () => () => undefined,
    setExitCode: () => undefined,
    exit: () => undefined,
  };
  await reportOutcome(client, REPORT, { display: new Display(terminal), signal: never });
  return String(output.read() ?? '');
}

const WHOLE = 'It is done.\nRequest 1: confirmed. Transaction 0x12 in block 5.\n';

describe('The outcome of a wallet request', () => {
  it('is shown with the turn that follows', async () => {
    const reported = new Gate();
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(0) };
        yield OPEN;
        await reported.passed;
        yield { type: 'state', state: state(1, 'processing') };
        yield { type: 'turn_started', turnId: TURN };
        yield { type: 'text', turnId: TURN, content: 'It is' };
        yield { type: 'text', turnId: TURN, content: ' done.' };
        yield { type: 'turn_ended', turnId: TURN, status: 'complete' };
        yield { type: 'state', state: state(3) };
      },
      report() {
        reported.open();
        return Promise.resolve();
      },
      state: state(1, 'processing'),
    });
    expect(await shown(client)).toBe(WHOLE);
  });

  it('is shown when the turn is over before the response has come', async () => {
    const asked = new Gate();
    const seen = new Gate();
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(0) };
        yield OPEN;
        await asked.passed;
        yield { type: 'state', state: state(3) };
        seen.open();
      },
      async report() {
        asked.open();
        await Promise.race([seen.passed, new Promise(setImmediate)]);
      },
      state: state(3),
    });
    expect(await shown(client)).toBe(WHOLE);
  });

  it('is shown when no event comes any more', async () => {
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(0) };
        yield OPEN;
        await Promise.resolve();
      },
      report: () => Promise.resolve(),
      state: state(3),
    });
    expect(await shown(client)).toBe(WHOLE);
  });

  it('completes a reply that was shown in part', async () => {
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(0) };
        yield OPEN;
        yield { type: 'turn_started', turnId: TURN };
        yield { type: 'text', turnId: TURN, content: 'It is' };
        yield { type: 'state', state: state(3) };
        await Promise.resolve();
      },
      report: () => Promise.resolve(),
      state: state(1, 'processing'),
    });
    expect(await shown(client)).toBe(WHOLE);
  });

  it('is not waited for when the report changes nothing', async () => {
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(3) };
        yield OPEN;
        await Promise.resolve();
      },
      report: () => Promise.resolve(),
      state: state(3),
    });
    expect(await shown(client)).toContain('Nothing has changed');
  });

  it('fails with the error of the report', async () => {
    const client = scripted({
      async *events() {
        yield { type: 'state', state: state(0) };
        yield OPEN;
        await Promise.resolve();
      },
      report: () => Promise.reject(new Error('refused')),
      state: state(0),
    });
    await expect(shown(client)).rejects.toThrow('refused');
  });
});
