import type { Random } from '../../chaos/random.js';
import { frameOf, HeldStream } from './held-stream.js';
import { ScriptedTurn } from './scripted-turn.js';
import type { Plan } from './simulation.js';

/** The one session of the scripted service. Its turns run one after the other, step by step as the simulation says. */
export class ScriptedSession {
  readonly turns: ScriptedTurn[] = [];
  /** Changes with everything that a state contains. */
  revision = 0;
  status: 'idle' | 'processing' | 'interrupted' = 'idle';
  /** The logged events, which have ids. */
  readonly #log: string[] = [];
  /** The streams of updates. */
  readonly #watchers: HeldStream[] = [];
  readonly #accepted = new Map<string, ScriptedTurn>();

  constructor(
    private readonly plan: Pick<Plan, 'surface' | 'areRepliesEqual'>,
    private readonly random: Random,
    private readonly trace: (line: string) => void,
  ) {}

  /** All that the assistant has said. Only grows, at its end. */
  get said(): string {
    return this.turns.map(({ said }) => said).join('');
  }

  get isBusy(): boolean {
    return this.turns.some(({ hasEnded }) => !hasEnded);
  }

  /** The id of the last logged event. */
  get cursor(): number {
    return this.#log.length;
  }

  /** Null until the first turn has ended. */
  get title(): string | null {
    return this.#log.some((frame) => frame.includes('title_changed')) ? 'A title' : null;
  }

  /** Queues a message. A repeated key returns the turn of the first message. */
  accept(message: string, key: string): ScriptedTurn {
    const known = this.#accepted.get(key);
    if (known !== undefined) return known;
    const turn = new ScriptedTurn(
      this.turns.length + 1,
      message,
      this.random,
      this.plan.areRepliesEqual === true,
    );
    this.turns.push(turn);
    this.#accepted.set(key, turn);
    this.revision++;
    this.status = 'processing';
    this.trace(`service: queued ${turn.id}`);
    return turn;
  }

  /** Opens a stream of updates behind an event. It begins with the running turn, as that of the service does. */
  watch(name: string, after: number): HeldStream {
    const stream = new HeldStream(name);
    if (after > this.cursor)
      stream.push(frameOf({ type: 'gap', from: this.cursor + 1, to: this.cursor + 1 }));
    stream.push(...this.#log.slice(after));
    const running = this.#running;
    if (this.plan.surface === 'current' && running !== undefined) {
      stream.push(frameOf({ type: 'turn_started', turn_id: running.id }));
      if (running.said !== '') stream.push(deltaOf(running, running.said, 0));
    }
    this.#watchers.push(stream);
    return stream;
  }

  /** Opens a legacy stream of one reply, from its beginning. */
  follow(name: string, turn: ScriptedTurn): HeldStream {
    const stream = new HeldStream(name);
    stream.push(...turn.frames);
    if (turn.hasEnded) stream.isEnding = true;
    else turn.streams.push(stream);
    return stream;
  }

  /** Does the next step of the running turn, or starts the next one. */
  work(): void {
    const turn = this.#running;
    if (turn === undefined) {
      this.#start();
      return;
    }
    const step = turn.steps.shift();
    switch (step?.type) {
      case undefined:
        this.#end(turn, 'complete');
        return;
      case 'fail':
        this.#end(turn, 'failed');
        return;
      case 'call':
        this.#call(turn);
        return;
      case 'result':
        this.#finishCall(turn);
        return;
      case 'text':
        this.#say(turn, step.content);
    }
  }

  /** Cancels the running and the queued turns. */
  interrupt(): void {
    this.trace('service: interrupt');
    for (const turn of this.turns.filter(({ hasEnded }) => !hasEnded)) {
      if (turn.status === 'queued') this.#announce(frameOf({ type: 'turn_started', turn_id: turn.id }));
      this.#end(turn, 'interrupted');
    }
  }

  get #running(): ScriptedTurn | undefined {
    return this.turns.find(({ status }) => status === 'running');
  }

  #start(): void {
    const turn = this.turns.find(({ status }) => status === 'queued');
    if (turn === undefined) return;
    turn.status = 'running';
    this.revision++;
    this.trace(`service: started ${turn.id}`);
    this.#announce(frameOf({ type: 'turn_started', turn_id: turn.id }));
  }

  #say(turn: ScriptedTurn, content: string): void {
    const offset = turn.said.length;
    turn.streaming += content;
    turn.said += content;
    this.revision++;
    this.trace(`service: ${turn.id} said "${content}"`);
    this.#announce(deltaOf(turn, content, offset));
    this.#reply(turn, { type: 'text', content });
  }

  #call(turn: ScriptedTurn): void {
    const callId = turn.call();
    this.trace(`service: called ${callId}`);
    this.#record({ type: 'tool_update', ...toolOf(callId), status: 'running' });
    this.#reply(turn, { type: 'tool_call', call_id: callId, name: 'add', args: {} });
  }

  #finishCall(turn: ScriptedTurn): void {
    const call = turn.openCall;
    if (call?.callId === undefined) return;
    call.result = '1';
    this.trace(`service: result of ${call.callId}`);
    this.#record({ type: 'tool_complete', ...toolOf(call.callId), status: 'complete', result: '1' });
    this.#reply(turn, { type: 'tool_result', call_id: call.callId, name: 'add', result: 1 });
  }

  #end(turn: ScriptedTurn, status: 'complete' | 'interrupted' | 'failed'): void {
    turn.end(status);
    this.revision++;
    if (!this.isBusy) this.status = status === 'interrupted' ? 'interrupted' : 'idle';
    this.trace(`service: ended ${turn.id} (${status})`);
    this.#announce(frameOf({ type: 'turn_ended', turn_id: turn.id, status }));
    this.#reply(turn, status === 'failed' ? { type: 'error', message: turn.failure } : { type: 'complete' });
    for (const stream of turn.streams) stream.isEnding = true;
    if (turn.number === 1) this.#record({ type: 'title_changed', new_title: 'A title' });
  }

  /** Sends an event that has no id, which the legacy surface does not have. */
  #announce(frame: string): void {
    if (this.plan.surface === 'current') for (const stream of this.#watchers) stream.push(frame);
  }

  /** Sends an event that has an id. */
  #record(data: object): void {
    const frame = frameOf(data, this.cursor + 1);
    this.#log.push(frame);
    this.revision++;
    for (const stream of this.#watchers) stream.push(frame);
  }

  #reply(turn: ScriptedTurn, data: object): void {
    const frame = frameOf(data);
    turn.frames.push(frame);
    for (const stream of turn.streams) stream.push(frame);
  }
}

function deltaOf({ id }: ScriptedTurn, content: string, offset: number): string {
  return frameOf({ type: 'text_delta', turn_id: id, content, offset });
}

function toolOf(callId: string) {
  return { id: callId, call_id: callId, tool_name: 'add', name: 'add' };
}
