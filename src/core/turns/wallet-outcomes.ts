import type { Message } from '../model/message.js';
import type { Clock } from '../ports/clock.js';
import type { CachedSession } from '../sessions/cached-session.js';
import type { OutcomeVerification } from '../wallet/outcome-verification.js';
import type { RunningTurn } from './running-turn.js';
import type { TurnWriter } from './turn-writer.js';

/** Verifies the outcome of wallet requests at the beginning of the turn that the wallet's report has started. */
export class WalletOutcomes {
  constructor(
    private readonly clock: Clock,
    private readonly verification: OutcomeVerification,
    private readonly writer: TurnWriter,
  ) {}

  /** True if a wallet's report began the turn, and no earlier attempt has stored what came after it. */
  areDue({ messages }: RunningTurn): boolean {
    return messages[0]?.origin === 'wallet' && messages.length === 1;
  }

  /**
   * Stores the verdicts as a record of the turn, which the model reads.
   * @throws TurnStopped, or an error of the store
   */
  async settle(running: RunningTurn, thread: CachedSession): Promise<void> {
    const { turn, signal } = running;
    const content = await this.verification.verify(turn, signal);
    if (content === undefined) return;
    const record: Message = {
      ...{ id: this.clock.newId(), turnId: turn.id, turnNo: turn.no, position: running.nextPosition },
      ...{ role: 'system', origin: 'wallet', content, toolCalls: null, toolResults: null },
      createdAt: this.clock.now(),
    };
    await this.writer.save(running, thread, [record], []);
  }
}
