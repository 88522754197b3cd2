import type { SessionEvent } from '../../../src/client/index.js';
import { said } from '../watching.js';
import { SimulatedTab, type Rule } from './simulated-tab.js';

/** One tab of a person: a client that watches the session, and the text that the person sees. */
export class Tab extends SimulatedTab {
  /** All that the assistant has said, as the person sees it. */
  view = '';
  #sending = 0;
  #isWatching = false;
  /** The turn that has started and not ended. */
  #open: string | undefined;
  readonly #ended = new Set<string>();
  readonly #stop = new AbortController();

  open(): void {
    void this.#watch();
  }

  /** Watches until `close`. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    try {
      for await (const event of this.client.watch(this.#stop.signal)) this.#receive(event);
      if (!this.#stop.signal.aborted) this.#broken('progress', 'watch has ended');
    } catch (error) {
      this.#broken('progress', `watch failed: ${String(error)}`);
    } finally {
      this.#isWatching = false;
    }
  }

  async send(text: string): Promise<void> {
    this.report.trace(`${this.name}: send ${text}`);
    this.#sending++;
    try {
      await this.client.send(text, { idempotencyKey: text });
      this.#sending--;
    } catch (error) {
      this.#broken('progress', `send failed: ${String(error)}`);
    }
  }

  checkView(): void {
    const whole = this.session.said;
    if (this.view !== whole) this.#broken('completeness', `shows "${this.view}" instead of "${whole}"`);
  }

  checkEnd(): void {
    if (this.#open !== undefined) this.#broken('turns', `${this.#open} has not ended`);
    if (this.#sending > 0) this.#broken('progress', `${String(this.#sending)} messages are still being sent`);
  }

  override close(): void {
    this.#stop.abort();
    super.close();
  }

  checkClosed(): void {
    if (this.#isWatching) this.#broken('closing', 'watch has not ended');
  }

  #receive(event: SessionEvent): void {
    const { type } = event;
    this.traceEvent(this.name, event);
    if (type === 'state') this.#show(said(event.state));
    else if (type === 'text') this.#show(this.view + event.content);
    if (type === 'turn_started' || type === 'text' || type === 'turn_ended') this.#checkTurn(event);
  }

  #show(view: string): void {
    this.view = view;
    const whole = this.session.said;
    if (!whole.startsWith(view)) this.#broken('order', `shows "${view}" when "${whole}" was said`);
  }

  #checkTurn(event: Extract<SessionEvent, { type: 'turn_started' | 'text' | 'turn_ended' }>): void {
    const { turnId } = event;
    const isOpen = this.#open === turnId;
    switch (event.type) {
      case 'turn_started':
        if (this.#open !== undefined && !isOpen) this.#broken('turns', `${turnId} starts in ${this.#open}`);
        if (this.#ended.has(turnId)) this.#broken('turns', `${turnId} starts after its end`);
        this.#open = turnId;
        return;
      case 'text':
        if (!isOpen) this.#broken('turns', `text of ${turnId}, which is not running`);
        return;
      case 'turn_ended':
        if (this.#ended.has(turnId)) this.#broken('turns', `${turnId} ends twice`);
        this.#ended.add(turnId);
        if (isOpen) this.#open = undefined;
        // A queued turn that was cancelled has no start.
        else if (event.status !== 'interrupted') this.#broken('turns', `${turnId} ends without a start`);
    }
  }

  #broken(rule: Rule, problem: string): void {
    this.report.broken(rule, `${this.name}: ${problem}`);
  }
}
