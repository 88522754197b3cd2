import type { Client, SessionState, WalletReport } from '../../client/index.js';
import { isWalletReport, verdictsIn } from '../../client/wallet-words.js';
import { visibleLine } from '../../client/visible-text.js';
import { linkSignals } from '../../core/model/abort.js';
import type { Display } from './display.js';

/**
 * Reports the outcome of a wallet request, and shows the turn in which the service verifies it and the assistant
 * replies. Resolves when the turn has ended.
 * @param client of the current surface
 * @param signal ends the display
 */
export async function reportOutcome(
  client: Client,
  report: WalletReport,
  { display, signal }: { readonly display: Display; readonly signal: AbortSignal },
): Promise<void> {
  const done = new AbortController();
  const watching = linkSignals(signal, done.signal);
  const sending = new Sending(client, report, done);
  let before: number | undefined;
  let turnId = 'report';
  try {
    for await (const event of client.watch(watching.signal)) {
      if (event.type === 'state') {
        const reports = event.state.messages.filter(isWalletReport).length;
        before ??= reports;
        if (!sending.isStarted || event.state.status === 'processing' || reports <= before) continue;
        sending.ended = event.state;
        break;
      }
      // The stream is open: no event of the turn is lost.
      if (event.type === 'connection' && event.state === 'open' && before !== undefined)
        sending.start(before);
      if (event.type === 'turn_started') turnId = event.turnId;
      if (event.type !== 'connection' || sending.isReported) display.show(event);
    }
  } finally {
    done.abort();
    watching.release();
  }
  if ((await sending.outcome) === 'unchanged')
    display.aside('Nothing has changed: this request has an outcome already.');
  if (sending.ended !== undefined) showRest(sending.ended, turnId, display);
}

/** Sends a report once, while its turn is watched. */
class Sending {
  /** Rejects with the error of the report; undefined: it was not sent. */
  outcome: Promise<'taken' | 'unchanged'> | undefined;
  isReported = false;
  /** The state in which the turn has ended. */
  ended: SessionState | undefined;

  constructor(
    private readonly client: Client,
    private readonly report: WalletReport,
    private readonly done: AbortController,
  ) {}

  get isStarted(): boolean {
    return this.outcome !== undefined;
  }

  /** @param before the number of reports in the session so far */
  start(before: number): void {
    if (this.isStarted) return;
    this.outcome = this.#send(before);
    // Ends the watching, after which the error is thrown.
    this.outcome.catch(() => {
      this.done.abort();
    });
  }

  async #send(before: number): Promise<'taken' | 'unchanged'> {
    await this.client.reportSystem(this.report);
    this.isReported = true;
    const state = await this.client.state();
    if (state.status === 'processing') return 'taken';
    // There is nothing to wait for: either the turn is over already, or none has begun.
    this.done.abort();
    if (state.messages.filter(isWalletReport).length <= before) return 'unchanged';
    this.ended ??= state;
    return 'taken';
  }
}

/** Shows what the events may have left out of the turn: the end of the reply, and the verdicts. */
function showRest(state: SessionState, turnId: string, display: Display): void {
  const turn = state.messages.slice(state.messages.findLastIndex(isWalletReport) + 1);
  const reply = turn.map(({ sender, content }) => (sender === 'agent' ? content : '')).join('');
  display.show({ type: 'turn_started', turnId });
  display.show({ type: 'text', turnId, content: reply });
  display.end();
  for (const { sender, content } of turn) {
    if (sender !== 'system') continue;
    for (const { id, words } of verdictsIn(content))
      display.aside(`Request ${String(id)}: ${visibleLine(words, 1_000)}`);
  }
}
