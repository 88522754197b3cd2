import type { SessionEvent } from '../../../src/client/index.js';
import { said } from '../watching.js';
import type { ScriptedTurn } from './scripted-turn.js';
import { SimulatedTab, type Report, type Rule } from './simulated-tab.js';

/** One tab of a person who asks: a client, and what each of its questions shows of its turn. */
export class AskingTab extends SimulatedTab {
  readonly #questions: Question[] = [];
  #isClosed = false;

  open(): void {
    // A question begins with its message.
  }

  async send(text: string): Promise<void> {
    const name = `${this.name}, ${text}`;
    const broken = (rule: Rule, problem: string): void => {
      this.report.broken(rule, `${name}: ${problem}`);
    };
    const turn = (): ScriptedTurn | undefined => this.session.turns.find(({ message }) => message === text);
    const question = new Question(turn, { trace: this.report.trace, broken });
    this.#questions.push(question);
    this.report.trace(`${this.name}: ask ${text}`);
    // A message with a key of its caller may have been sent before.
    const options = this.#questions.length % 2 === 0 ? {} : { idempotencyKey: text };
    try {
      for await (const event of this.client.ask(text, options)) {
        this.traceEvent(name, event);
        question.receive(event);
      }
      question.checkEnd();
    } catch (error) {
      if (!this.#isClosed) broken('progress', `ask failed: ${String(error)}`);
    }
    question.isOver = true;
  }

  checkView(): void {
    for (const question of this.#questions) question.checkView();
  }

  checkEnd(): void {
    for (const question of this.#questions) question.checkEnd();
  }

  override close(): void {
    this.#isClosed = true;
    super.close();
  }

  checkClosed(): void {
    if (this.#questions.some(({ isOver }) => !isOver))
      this.report.broken('closing', `${this.name}: ask has not ended`);
  }
}

/** One question: the text of its turn as the person sees it, and its end. */
class Question {
  isOver = false;
  #view = '';
  #turnId: string | undefined;
  #end: Extract<SessionEvent, { type: 'turn_ended' }> | undefined;

  constructor(
    private readonly turn: () => ScriptedTurn | undefined,
    private readonly report: Report,
  ) {}

  receive(event: SessionEvent): void {
    if (this.#end !== undefined) this.report.broken('turns', `${event.type} after the end`);
    switch (event.type) {
      case 'connection':
      case 'notice':
      case 'title':
      case 'tool':
        return;
      case 'turn_started':
        if (this.#turnId !== undefined) this.report.broken('turns', 'starts twice');
        this.#turnId = event.turnId;
        if (event.turnId !== this.turn()?.id) this.report.broken('turns', `${event.turnId} starts`);
        return;
      case 'text':
        if (event.turnId !== this.#turnId) this.report.broken('turns', `text of ${event.turnId}`);
        this.#show(this.#view + event.content);
        return;
      case 'state':
        // Contains the whole thread.
        if (!said(event.state).includes(this.turn()?.said ?? ''))
          this.report.broken('completeness', 'the state lacks the reply');
        return;
      case 'turn_ended':
        this.#end = event;
        this.#checkOutcome(event);
    }
  }

  checkView(): void {
    const turn = this.turn();
    if (turn === undefined) return;
    if (this.#view !== turn.said)
      this.report.broken('completeness', `shows "${this.#view}" instead of "${turn.said}"`);
    if (turn.hasEnded) this.checkEnd();
  }

  checkEnd(): void {
    if (this.#end === undefined) this.report.broken('progress', 'has not ended');
  }

  #show(view: string): void {
    this.#view = view;
    const whole = this.turn()?.said ?? '';
    if (!whole.startsWith(view)) this.report.broken('order', `shows "${view}" when "${whole}" was said`);
  }

  #checkOutcome({ turnId, status }: Extract<SessionEvent, { type: 'turn_ended' }>): void {
    const turn = this.turn();
    if (turnId !== this.#turnId) this.report.broken('turns', `${turnId} ends without a start`);
    if (this.#view !== turn?.said)
      this.report.broken('completeness', `ends with "${this.#view}" instead of "${turn?.said ?? ''}"`);
    if (status !== turn?.status)
      this.report.broken('turns', `ends as ${status} when it is ${turn?.status ?? 'unknown'}`);
  }
}
