import type { Random } from '../../chaos/random.js';
import type { HeldStream } from './held-stream.js';

type Step =
  { readonly type: 'text'; readonly content: string } | { readonly type: 'call' | 'result' | 'fail' };

/** Text that a turn has stored, and the tool call that follows it. */
export interface Stored {
  readonly content: string;
  readonly callId?: string;
  /** Null while the call is running. */
  result: string | null;
}

/** A message, and the reply that the assistant gives to it in steps. */
export class ScriptedTurn {
  readonly id: string;
  status: 'queued' | 'running' | 'complete' | 'interrupted' | 'failed' = 'queued';
  readonly steps: Step[];
  readonly stored: Stored[] = [];
  /** The text that is not stored yet. */
  streaming = '';
  /** All text so far. */
  said = '';
  /** The events of the turn for the legacy streams of its reply. */
  readonly frames: string[] = [];
  readonly streams: HeldStream[] = [];

  constructor(
    readonly number: number,
    readonly message: string,
    random: Random,
    areEqual: boolean,
  ) {
    this.id = `t${String(number)}`;
    this.steps = stepsOf(areEqual ? 0 : number, random);
  }

  /** When the message was accepted, in ISO 8601. */
  get acceptedAt(): string {
    return new Date(this.number * 1000).toISOString();
  }

  get hasEnded(): boolean {
    return this.status !== 'queued' && this.status !== 'running';
  }

  /** The reason of a failure. */
  get failure(): string {
    return `Turn ${this.id} failed`;
  }

  /** The call that is running. */
  get openCall(): Stored | undefined {
    return this.stored.find(({ callId, result }) => callId !== undefined && result === null);
  }

  /** @returns the id of the call */
  call(): string {
    const callId = `${this.id}-call-${String(this.stored.length + 1)}`;
    this.stored.push({ content: this.streaming, callId, result: null });
    this.streaming = '';
    return callId;
  }

  end(status: 'complete' | 'interrupted' | 'failed'): void {
    if (this.openCall !== undefined) this.openCall.result = status;
    if (this.streaming !== '') this.stored.push({ content: this.streaming, result: null });
    this.streaming = '';
    this.status = status;
  }

  /** The messages of the turn in a state, in the format of both surfaces. */
  messages(): object[] {
    const replies = this.stored.flatMap(({ content, callId, result }) => [
      ...(content === '' ? [] : [messageOf('agent', content)]),
      ...(callId === undefined || result === null
        ? []
        : [{ ...messageOf('agent', ''), tool_result: ['add', result] }]),
    ]);
    return [
      { ...messageOf('user', this.message), timestamp: this.acceptedAt },
      ...replies,
      ...(this.streaming === '' ? [] : [{ ...messageOf('agent', this.streaming), is_streaming: true }]),
      ...(this.status === 'failed' ? [messageOf('system', this.failure)] : []),
    ];
  }
}

/** Returns a reply of at most four pieces of text, some of which are followed by a silent tool call. */
function stepsOf(number: number, random: Random): Step[] {
  const steps: Step[] = [];
  const pieces = random.chance(0.1) ? 0 : random.integer(1, 4);
  for (const letter of 'abcd'.slice(0, pieces)) {
    steps.push({ type: 'text', content: `${String(number)}${letter} ` });
    if (random.chance(0.3)) steps.push({ type: 'call' }, { type: 'result' });
  }
  if (random.chance(0.1)) steps.push({ type: 'fail' });
  return steps;
}

function messageOf(sender: 'user' | 'agent' | 'system', content: string) {
  return { sender, content, timestamp: '', is_streaming: false, tool_result: null };
}
